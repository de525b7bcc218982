export { InboxPage } from "./InboxPage";
export { QuestionBar, useAskedBelow } from "./QuestionBar";
export { QuestionCard } from "./QuestionCard";
export { QuestionRow } from "./Settled";
