import { useCallback } from "react";
import type { OpenSession } from "../store/hub";
import { Cell, type Readable, usePart } from "../store/readable";
import type { Tool } from "../talk/item";
import { firstText, type JsonObject } from "../talk/json";
import { mcpName, toolName, toolTitle } from "../talk/title";
import { visible } from "../ui/visible";
import css from "./Title.module.css";

/** What a call is about, without the tool's name. */
export function titleOf(name: string, input: JsonObject): string {
  const title = toolTitle(name, input);
  if (!mcpName(name)) return title;
  const own = toolName(name);
  return title === own ? "" : title.startsWith(`${own}, `) ? title.slice(own.length + 2) : title;
}

/** A path as it is within a folder; as it is if it is outside. */
export function within(folder: string, path: string): string {
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  return folder !== "" && path.startsWith(base) && path.length > base.length ? path.slice(base.length) : path;
}

type Snapshot = ReturnType<OpenSession["snapshot"]["get"]>;
const nowhere: Readable<Snapshot> = new Cell<Snapshot>({});

/** The title of a card. Of a path too long for its line the folders are cut, never the name of the file; of an open card nothing is cut. */
export function Title(props: { session?: OpenSession; item: Tool; input: JsonObject; open: boolean }) {
  const { session, item, input, open } = props;
  const folder = usePart(
    session?.snapshot ?? nowhere,
    useCallback((snapshot: Snapshot) => snapshot.session?.dir ?? "", []),
  );
  const title = titleOf(item.name, input);
  const path = firstText(input, "file_path", "notebook_path");
  if (path === "" || !title.startsWith(path)) return <span className={css.title}>{visible(title)}</span>;
  const short = visible(within(folder, title));
  const cut = short.lastIndexOf("/") + 1;
  return (
    <span className={open ? css.whole : css.path} title={visible(path)}>
      {cut > 0 && <span className={css.folders}>{short.slice(0, cut)}</span>}
      <span className={css.file}>{short.slice(cut)}</span>
    </span>
  );
}
