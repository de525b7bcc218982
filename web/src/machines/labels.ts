import type { Node } from "../api/types";
import { machinesTexts } from "../texts/machines";
import type { Option } from "../ui/fields";
import { visible } from "../ui/visible";
import { arrangeMachines, refusalOf } from "./machines";

const t = machinesTexts.labels;

/** What the hub takes at most. */
export const mostLabels = 16;
const mostSuggestions = 30;

// As the hub checks them.
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/;
const valuePattern = /^[A-Za-z0-9._:/@+-]{0,63}$/;

export type Labels = { [name: string]: string };

/** Reads labels as they are typed, NAME=VALUE with commas or spaces between them, or says what is wrong with them. */
export function readLabels(text: string): { labels: Labels; problem?: undefined } | { labels?: undefined; problem: string } {
  const labels = new Map<string, string>();
  for (const word of wordsOf(text)) {
    const at = word.indexOf("=");
    if (at <= 0) return { problem: t.wrong(visible(word)) };
    const name = word.slice(0, at);
    const value = word.slice(at + 1);
    if (!namePattern.test(name)) return { problem: t.nameWrong(visible(name)) };
    if (!valuePattern.test(value)) return { problem: t.valueWrong(visible(value)) };
    if ((labels.get(name) ?? value) !== value) return { problem: t.twice(name) };
    labels.set(name, value);
  }
  if (labels.size === 0) return { problem: t.missing };
  if (labels.size > mostLabels) return { problem: t.many(mostLabels) };
  return { labels: Object.fromEntries(labels) };
}

/** The machines that have all labels and take a session now, by name. */
export function machinesFor(text: string, nodes: readonly Node[], now: number): Node[] {
  const { labels } = readLabels(text);
  return labels ? withLabels(labels, nodes).filter((node) => refusalOf(node, now) === undefined) : [];
}

/** Why no session can be started by labels. What is not known yet, because the machines could not be read, is left to the hub. */
export function labelsProblem(text: string, nodes: readonly Node[] | undefined, now: number): string | undefined {
  const { labels, problem } = readLabels(text);
  if (problem !== undefined) return problem;
  if (nodes === undefined) return undefined;
  const fit = withLabels(labels, nodes);
  const [first] = fit;
  if (!first) return t.noneFits(Object.keys(labels).length);
  if (fit.some((node) => refusalOf(node, now) === undefined)) return undefined;
  return fit.length === 1 ? t.refused(visible(first.name), refusalOf(first, now) ?? "") : t.allRefuse;
}

/**
 * What the text can become with one more label, or with the last one completed. Only labels of machines that have those before it are
 * suggested, so that every suggestion fits one.
 */
export function suggestLabels(text: string, nodes: readonly Node[]): Option[] {
  const all = wordsOf(text);
  const last = all.at(-1) ?? "";
  // A label that is complete, or that has a comma after it, is followed by another.
  const complete = /[\s,]$/.test(text) || nodes.some((node) => pairsOf(node).includes(last));
  const before = complete ? all : all.slice(0, -1);
  const typed = complete ? "" : last.toLowerCase();
  const given = before.length > 0 ? readLabels(before.join(",")).labels : {};
  if (!given || before.length >= mostLabels) return [];

  const found = new Map<string, string[]>();
  for (const node of withLabels(given, nodes)) {
    for (const pair of pairsOf(node)) {
      if (Object.hasOwn(given, pair.slice(0, pair.indexOf("="))) || !pair.toLowerCase().includes(typed)) continue;
      found.set(pair, [...(found.get(pair) ?? []), visible(node.name)]);
    }
  }
  return [...found]
    .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .slice(0, mostSuggestions)
    .map(([pair, names]) => ({ id: pair, label: [...before, pair].join(", "), hint: t.names(names) }));
}

/** The words between commas and spaces; spaces around an equals sign belong to its word. */
function wordsOf(text: string): string[] {
  return text
    .replace(/\s*=\s*/g, "=")
    .split(/[\s,]+/)
    .filter(Boolean);
}

/** Those with all labels, by name; one that is locked out never comes back. */
function withLabels(labels: Labels, nodes: readonly Node[]): Node[] {
  const wanted = Object.entries(labels);
  return arrangeMachines(nodes).filter(
    (node) => node.state !== "revoked" && wanted.every(([name, value]) => node.labels?.[name] === value),
  );
}

function pairsOf(node: Node): string[] {
  return Object.entries(node.labels ?? {}).map(([name, value]) => `${name}=${value}`);
}
