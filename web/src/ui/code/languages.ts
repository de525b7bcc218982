import type { LanguageFn } from "highlight.js";

type Load = () => Promise<{ default: LanguageFn }>;

interface Entry {
  readonly load: Load;
  /** Other names, as they stand after the fence of a code block. */
  readonly names?: string;
  /** Endings of files. */
  readonly files?: string;
  /** Whole names of files. */
  readonly whole?: string;
  /** Languages that occur within it. */
  readonly needs?: readonly string[];
}

// Those that agents write most. Each is a file of its own, which is loaded when something is in that language.
const table: Readonly<Record<string, Entry>> = {
  bash: {
    load: () => import("highlight.js/lib/languages/bash"),
    names: "sh zsh ksh",
    files: "sh bash zsh ksh",
    whole: ".bashrc .zshrc .profile",
  },
  c: { load: () => import("highlight.js/lib/languages/c"), names: "h", files: "c h" },
  clojure: { load: () => import("highlight.js/lib/languages/clojure"), names: "clj edn", files: "clj cljs cljc edn" },
  cmake: { load: () => import("highlight.js/lib/languages/cmake"), files: "cmake", whole: "cmakelists.txt" },
  cpp: { load: () => import("highlight.js/lib/languages/cpp"), names: "c++ cc cxx hpp", files: "cpp cc cxx hpp hh hxx ino" },
  csharp: { load: () => import("highlight.js/lib/languages/csharp"), names: "cs c#", files: "cs" },
  css: { load: () => import("highlight.js/lib/languages/css"), files: "css" },
  dart: { load: () => import("highlight.js/lib/languages/dart"), files: "dart" },
  diff: { load: () => import("highlight.js/lib/languages/diff"), names: "patch", files: "diff patch" },
  dockerfile: {
    load: () => import("highlight.js/lib/languages/dockerfile"),
    names: "docker",
    whole: "dockerfile containerfile",
    needs: ["bash"],
  },
  elixir: { load: () => import("highlight.js/lib/languages/elixir"), names: "ex exs", files: "ex exs" },
  elm: { load: () => import("highlight.js/lib/languages/elm"), files: "elm" },
  erlang: { load: () => import("highlight.js/lib/languages/erlang"), names: "erl", files: "erl hrl" },
  fsharp: { load: () => import("highlight.js/lib/languages/fsharp"), names: "fs f#", files: "fs fsx" },
  go: { load: () => import("highlight.js/lib/languages/go"), names: "golang", files: "go" },
  gradle: { load: () => import("highlight.js/lib/languages/gradle"), files: "gradle" },
  graphql: { load: () => import("highlight.js/lib/languages/graphql"), names: "gql", files: "graphql gql" },
  groovy: { load: () => import("highlight.js/lib/languages/groovy"), files: "groovy", whole: "jenkinsfile" },
  haskell: { load: () => import("highlight.js/lib/languages/haskell"), names: "hs", files: "hs" },
  http: { load: () => import("highlight.js/lib/languages/http"), names: "https", files: "http", needs: ["json"] },
  ini: {
    load: () => import("highlight.js/lib/languages/ini"),
    names: "toml",
    files: "ini toml cfg conf editorconfig",
    whole: ".gitconfig .npmrc",
  },
  java: { load: () => import("highlight.js/lib/languages/java"), files: "java" },
  javascript: {
    load: () => import("highlight.js/lib/languages/javascript"),
    names: "js jsx mjs cjs node",
    files: "js jsx mjs cjs",
    needs: ["xml", "css", "graphql"],
  },
  json: {
    load: () => import("highlight.js/lib/languages/json"),
    names: "jsonc json5 jsonl ndjson",
    files: "json jsonc json5 jsonl ndjson ipynb webmanifest",
  },
  julia: { load: () => import("highlight.js/lib/languages/julia"), names: "jl", files: "jl" },
  kotlin: { load: () => import("highlight.js/lib/languages/kotlin"), names: "kt", files: "kt kts" },
  latex: { load: () => import("highlight.js/lib/languages/latex"), names: "tex", files: "tex sty" },
  less: { load: () => import("highlight.js/lib/languages/less"), files: "less" },
  lua: { load: () => import("highlight.js/lib/languages/lua"), files: "lua" },
  makefile: {
    load: () => import("highlight.js/lib/languages/makefile"),
    names: "make mk",
    files: "mk mak",
    whole: "makefile gnumakefile",
  },
  markdown: {
    load: () => import("highlight.js/lib/languages/markdown"),
    names: "md mdx",
    files: "md mdx markdown",
    needs: ["xml"],
  },
  nginx: { load: () => import("highlight.js/lib/languages/nginx"), files: "nginx", whole: "nginx.conf" },
  nix: { load: () => import("highlight.js/lib/languages/nix"), files: "nix" },
  objectivec: { load: () => import("highlight.js/lib/languages/objectivec"), names: "objc obj-c", files: "m mm" },
  ocaml: { load: () => import("highlight.js/lib/languages/ocaml"), names: "ml", files: "ml mli" },
  perl: { load: () => import("highlight.js/lib/languages/perl"), names: "pl", files: "pl pm" },
  php: { load: () => import("highlight.js/lib/languages/php"), files: "php" },
  powershell: { load: () => import("highlight.js/lib/languages/powershell"), names: "pwsh ps ps1", files: "ps1 psm1" },
  properties: { load: () => import("highlight.js/lib/languages/properties"), files: "properties env", whole: ".env" },
  protobuf: { load: () => import("highlight.js/lib/languages/protobuf"), names: "proto", files: "proto" },
  python: { load: () => import("highlight.js/lib/languages/python"), names: "py py3 gyp", files: "py pyi pyw" },
  r: { load: () => import("highlight.js/lib/languages/r"), files: "r rmd" },
  ruby: {
    load: () => import("highlight.js/lib/languages/ruby"),
    names: "rb",
    files: "rb rake gemspec",
    whole: "gemfile rakefile podfile",
  },
  rust: { load: () => import("highlight.js/lib/languages/rust"), names: "rs", files: "rs" },
  scala: { load: () => import("highlight.js/lib/languages/scala"), files: "scala sc" },
  scss: { load: () => import("highlight.js/lib/languages/scss"), names: "sass", files: "scss sass" },
  shell: { load: () => import("highlight.js/lib/languages/shell"), names: "console shellsession", needs: ["bash"] },
  sql: { load: () => import("highlight.js/lib/languages/sql"), names: "postgres postgresql mysql sqlite", files: "sql" },
  swift: { load: () => import("highlight.js/lib/languages/swift"), files: "swift" },
  typescript: {
    load: () => import("highlight.js/lib/languages/typescript"),
    names: "ts tsx mts cts",
    files: "ts tsx mts cts",
    needs: ["xml", "css", "graphql"],
  },
  vim: { load: () => import("highlight.js/lib/languages/vim"), files: "vim", whole: ".vimrc" },
  wasm: { load: () => import("highlight.js/lib/languages/wasm"), names: "wat", files: "wat" },
  xml: {
    load: () => import("highlight.js/lib/languages/xml"),
    names: "html xhtml svg vue svelte rss plist",
    files: "xml html htm xhtml svg vue svelte plist xsl csproj",
    needs: ["css", "javascript"],
  },
  yaml: { load: () => import("highlight.js/lib/languages/yaml"), names: "yml", files: "yaml yml" },
};

const byName = new Map<string, string>();
const byEnding = new Map<string, string>();
const byWhole = new Map<string, string>();
for (const [id, entry] of Object.entries(table)) {
  byName.set(id, id);
  for (const name of entry.names?.split(" ") ?? []) byName.set(name, id);
  for (const file of entry.files?.split(" ") ?? []) byEnding.set(file, id);
  for (const file of entry.whole?.split(" ") ?? []) byWhole.set(file, id);
}

/** The language of a file, by its name; undefined if it is none that is coloured. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  const whole = byWhole.get(name);
  if (whole) return whole;
  if (name.startsWith("dockerfile.")) return "dockerfile";
  const dot = name.lastIndexOf(".");
  return dot > 0 ? byEnding.get(name.slice(dot + 1)) : undefined;
}

/** The language that a name means, such as the one after the fence of a code block. */
export function languageNamed(name: string): string | undefined {
  return byName.get(name.trim().toLowerCase());
}

/** Loads a language, and gives it its name. */
export async function loadLanguage(id: string): Promise<LanguageFn | undefined> {
  const entry = table[id];
  return entry ? (await entry.load()).default : undefined;
}

/** A language and all that may occur within it, each once. */
export function withNeeded(id: string): string[] {
  const all = [id];
  for (let i = 0; i < all.length; i++) {
    for (const needed of table[all[i] ?? ""]?.needs ?? []) if (!all.includes(needed)) all.push(needed);
  }
  return all;
}
