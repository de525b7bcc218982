export { SessionHeader } from "./Header";
export { openFork, openRewind } from "./panels";
