import type { Emitter, HLJSApi } from "highlight.js";
import { loadLanguage, withNeeded } from "./languages";

/** What a piece of code looks like: a class of tokens.module.css. */
export type Look =
  | "keyword"
  | "type"
  | "string"
  | "number"
  | "comment"
  | "meta"
  | "title"
  | "attribute"
  | "addition"
  | "deletion"
  | "emphasis"
  | "strong";

/** A piece of a line of code. */
export interface Seen {
  readonly text: string;
  readonly look?: Look;
}

// What a scope of the highlighter looks like. Several share a look: the eye tells few colours apart.
const looks: Readonly<Record<string, Look | undefined>> = {
  keyword: "keyword",
  literal: "keyword",
  operator: undefined,
  built_in: "type",
  type: "type",
  class: "type",
  string: "string",
  char: "string",
  regexp: "string",
  link: "string",
  number: "number",
  symbol: "number",
  bullet: "number",
  comment: "comment",
  quote: "comment",
  doctag: "meta",
  meta: "meta",
  title: "title",
  section: "title",
  function: "title",
  name: "keyword",
  tag: undefined,
  attr: "attribute",
  attribute: "attribute",
  property: "attribute",
  variable: "attribute",
  "template-variable": "attribute",
  params: undefined,
  "selector-tag": "keyword",
  "selector-id": "title",
  "selector-class": "title",
  "selector-attr": "attribute",
  "selector-pseudo": "attribute",
  addition: "addition",
  deletion: "deletion",
  emphasis: "emphasis",
  strong: "strong",
  code: "string",
};

function look(scope: string): Look | undefined {
  return looks[scope] ?? looks[scope.split(".", 1)[0] ?? ""];
}

/** Takes what the highlighter finds as lines of tokens: no HTML is made of code, so that none can be taken for ours. */
class LineEmitter implements Emitter {
  readonly lines: Seen[][] = [[]];
  private scopes: (Look | undefined)[] = [];

  addText(text: string): void {
    const look = this.scopes.at(-1);
    text.split("\n").forEach((part, i) => {
      if (i > 0) this.lines.push([]);
      if (part !== "") this.lines.at(-1)?.push(look ? { text: part, look } : { text: part });
    });
  }

  startScope(scope: string): void {
    // A scope without a look of its own has that of the one around it: an escape in a string.
    this.scopes.push(look(scope) ?? this.scopes.at(-1));
  }

  endScope(): void {
    this.scopes.pop();
  }

  // The highlighter calls these two by both names.
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(other: Emitter): void {
    if (!(other instanceof LineEmitter)) return;
    other.lines.forEach((line, i) => {
      if (i > 0) this.lines.push([]);
      this.lines.at(-1)?.push(...line);
    });
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

let core: Promise<HLJSApi> | undefined;
const loading = new Map<string, Promise<void>>();

function loadCore(): Promise<HLJSApi> {
  core ??= import("highlight.js/lib/core").then(({ default: shared }) => {
    const own = shared.newInstance();
    own.configure({ __emitter: LineEmitter });
    return own;
  });
  return core;
}

async function register(hljs: HLJSApi, id: string): Promise<void> {
  let ready = loading.get(id);
  if (!ready) {
    ready = loadLanguage(id).then((language) => {
      if (language) hljs.registerLanguage(id, language);
    });
    loading.set(id, ready);
  }
  await ready;
}

/** The lines of a text in a language of ours, with what each piece looks like. It may take long, and reject if a file cannot be loaded. */
export async function readLines(text: string, language: string): Promise<readonly (readonly Seen[])[] | undefined> {
  const hljs = await loadCore();
  await Promise.all(withNeeded(language).map((id) => register(hljs, id)));
  const result = hljs.highlight(text, { language, ignoreIllegals: true });
  return result._emitter instanceof LineEmitter ? result._emitter.lines : undefined;
}
