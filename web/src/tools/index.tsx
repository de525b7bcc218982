export { ToolCard } from "./ToolCard";
export { ToolPreview } from "./ToolPreview";
