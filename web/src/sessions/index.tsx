export { openAdopt, openNewSession } from "./dialogs";
export { SearchPage } from "./SearchPage";
export { SessionDialogs } from "./SessionDialogs";
export { SessionsPane } from "./SessionsPane";
export { WelcomePage } from "./WelcomePage";
