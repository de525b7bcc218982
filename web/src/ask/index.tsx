export { useAskedBelow } from "./below";
export { InboxPage } from "./InboxPage";
export { QuestionBar } from "./QuestionBar";
export { QuestionCard } from "./QuestionCard";
export { QuestionRow } from "./QuestionRow";
