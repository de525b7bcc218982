export { ConversationPage } from "./ConversationPage";
