import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { Tool } from "../talk/item";
import type { JsonObject } from "../talk/json";

/** What a call gets, drawn. */
export interface Given {
  readonly view?: ReactNode;
  /** The members of the input that the view shows whole. All others are listed below it: people approve what they see. */
  readonly drawn: readonly string[];
}

/** How the calls of a tool are shown. Nothing is known for sure of an input or a result: each of these narrows what it takes. */
export interface ToolKind {
  readonly icon: LucideIcon;
  /** Its input is known: what of it is neither in the title nor in the view needs little room. */
  readonly known?: boolean;
  given(input: JsonObject): Given;
  /** A few words beside the title once it is done. */
  brief?(item: Tool): ReactNode;
  /** Call and result in one, once they are known; undefined if they are to be shown one after the other. */
  whole?(item: Tool): ReactNode | undefined;
  /** What it gave, instead of its text and images. */
  result?(item: Tool): ReactNode;
  /** What is seen of it when it is done and folded. `open` unfolds it. */
  peek?(item: Tool, open: () => void): ReactNode;
}
