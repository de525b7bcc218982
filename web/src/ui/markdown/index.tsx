export { safeHref, safeImage } from "./link";
export { Markdown } from "./Markdown";
export { Picture } from "./Picture";
