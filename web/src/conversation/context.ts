import { createContext } from "react";
import { Cell } from "../store/readable";
import type { Item } from "../talk/item";

/** What the rows of a conversation need of the page. */
export interface Place {
  /** The row that keys act on. */
  readonly selected: Cell<string | undefined>;
  /** The row that takes the focus as soon as it is drawn, once: somebody went to it. One that only comes back takes none. */
  readonly wanted: { id?: string };
  /** The agent is a simulated one: its prompts may hold orders that nobody would give a real one. */
  readonly simulated: boolean;
  copy(item: Item): void;
  /** Opens the menu of an item at a button. */
  menu(item: Item, at: Element): void;
}

export const PlaceContext = createContext<Place>({
  selected: new Cell<string | undefined>(undefined),
  wanted: {},
  simulated: false,
  copy: () => {},
  menu: () => {},
});
