import { FilePen, FilePlus2, NotebookPen } from "lucide-react";
import { useMemo } from "react";
import type { Json } from "../api/types";
import type { Tool } from "../talk/item";
import { arr, at, bool, type JsonObject, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Changes, countChanges, countHunks, Diff, Patch } from "../ui/diff/Diff";
import { countLines } from "./excerpt";
import type { Given, ToolKind } from "./kind";
import { Remark, WholePath } from "./Parts";
import { ResultPeek } from "./Result";

interface Replacement {
  readonly before: string;
  readonly after: string;
}

interface Change {
  readonly parts: readonly Replacement[];
  /** The members of the input that the parts show whole. */
  readonly members: readonly string[];
}

/** What an edit replaces by what; undefined if it does not say so in texts. */
export function changeOf(input: JsonObject): Change | undefined {
  const { old_string: before, new_string: after, content, new_source: source } = input;
  if (typeof before === "string" && typeof after === "string")
    return { parts: [{ before, after }], members: ["old_string", "new_string"] };
  if (typeof content === "string") return { parts: [{ before: "", after: content }], members: ["content"] };
  if (typeof source === "string") return { parts: [{ before: "", after: source }], members: ["new_source"] };
  const edits = arr(input, "edits");
  const parts: Replacement[] = [];
  let plain = true;
  for (const edit of edits) {
    const [old, now] = [at(edit, "old_string"), at(edit, "new_string")];
    if (typeof old !== "string" || typeof now !== "string") return undefined;
    parts.push({ before: old, after: now });
    plain &&= Object.keys(edit ?? {}).length === 2;
  }
  // If an edit has more than its two texts, the members are listed as well.
  return parts.length === 0 ? undefined : { parts, members: plain ? ["edits"] : [] };
}

/** Whether a whole text is written that is empty. That is a change, of whatever is there now. */
function writesNothing({ parts, members }: Change): boolean {
  return (members[0] === "content" || members[0] === "new_source") && parts[0]?.after === "";
}

function pathOf(input: JsonObject): string {
  return str(input, "file_path") || str(input, "notebook_path");
}

/** A path that tells the language: the cells of a notebook are in another one than its file. */
function languagePath(input: JsonObject): string {
  if (typeof input.new_source !== "string") return pathOf(input);
  return input.cell_type === "markdown" ? "cell.md" : "cell.py";
}

function given(input: JsonObject): Given {
  const change = changeOf(input);
  const path = pathOf(input);
  const named = path === "" ? [] : [str(input, "file_path") === "" ? "notebook_path" : "file_path"];
  return {
    view: (
      <>
        {path !== "" && <WholePath path={path} />}
        {change && (writesNothing(change) ? <Remark>{t.writesNothing}</Remark> : <Parts input={input} parts={change.parts} />)}
      </>
    ),
    drawn: [...named, ...(change?.members ?? [])],
  };
}

function Parts({
  input,
  parts,
  most,
  onMore,
}: {
  input: JsonObject;
  parts: readonly Replacement[];
  most?: number;
  onMore?: () => void;
}) {
  return parts.map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an edit have no other name than their place
    <Diff key={i} path={languagePath(input)} before={part.before} after={part.after} most={most} onMore={onMore} />
  ));
}

function patchOf(item: Tool): readonly Json[] {
  return arr(item.result?.structured, "structuredPatch");
}

function Brief({ item }: { item: Tool }) {
  const patch = patchOf(item);
  const counts = useMemo(() => {
    if (patch.length > 0) return countHunks(patch);
    if (typeof item.input.content === "string") return { added: countLines(item.input.content), removed: 0 };
    return (changeOf(item.input)?.parts ?? [])
      .map((r) => countChanges(r.before, r.after))
      .reduce((sum, c) => ({ added: sum.added + c.added, removed: sum.removed + c.removed }), { added: 0, removed: 0 });
  }, [patch, item.input]);
  return <Changes {...counts} />;
}

function Whole({ item, most, onMore }: { item: Tool; most?: number; onMore?: () => void }) {
  const patch = patchOf(item);
  if (patch.length > 0) return <Patch path={languagePath(item.input)} hunks={patch} most={most} onMore={onMore} />;
  const change = changeOf(item.input);
  if (change && writesNothing(change)) return <Remark>{t.writesNothing}</Remark>;
  const parts = change?.parts ?? [];
  return <Parts input={item.input} parts={most === undefined ? parts : parts.slice(0, 1)} most={most} onMore={onMore} />;
}

const peekLines = 8;

export const edit: ToolKind = {
  icon: FilePen,
  known: true,
  given,
  brief: (item) => <Brief item={item} />,
  whole(item) {
    if (item.state !== "done" || (patchOf(item).length === 0 && !changeOf(item.input))) return undefined;
    return (
      <>
        <Whole item={item} />
        {bool(item.result?.structured, "userModified") && <Remark>{t.userModified}</Remark>}
      </>
    );
  },
  peek: (item, open) =>
    item.state === "done" ? <Whole item={item} most={peekLines} onMore={open} /> : <ResultPeek item={item} />,
};

export const write: ToolKind = { ...edit, icon: FilePlus2 };
export const notebook: ToolKind = { ...edit, icon: NotebookPen };
