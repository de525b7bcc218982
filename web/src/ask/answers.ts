import type { Always, Answer, ChoiceAnswer, Json, Question, Suggestion } from "../api/types";
import { arr, isObject, str } from "../talk/json";
import { isHostRule, networkAccess } from "../talk/network";
import { askTexts as t } from "../texts/ask";
import { modeName } from "../texts/modes";
import { choicesOf } from "./request";

// The answers to questions, built in one place and from as little as possible: an answer holds what somebody has decided and nothing else,
// for a member that was not meant is worse than one that is missing. docs/questions.md has the table of them.

/** Allows a tool call: as it was asked, or with an input that was edited, and with what is allowed from now on. */
export function allow(more: { input?: Json; always?: Always } = {}): Answer {
  const answer: Answer = { decision: "allow" };
  if (more.input !== undefined) answer.input = more.input;
  if (more.always) answer.always = more.always;
  return answer;
}

/** Refuses a tool call, all questions of a choice, or a plan of which no outcomes are known. */
export function deny(message: string, stop = false): Answer {
  const answer: Answer = { decision: "deny" };
  const said = message.trim();
  if (said !== "") answer.message = said;
  if (stop) answer.interrupt = true;
  return answer;
}

/** Where something that is allowed for good can be kept. */
export type Destination = "session" | "localSettings" | "projectSettings" | "userSettings" | "switchboard";

const suggestionDestinations: readonly Destination[] = ["session", "localSettings", "projectSettings", "userSettings"];
const knownUpdates: readonly string[] = [
  "addRules",
  "replaceRules",
  "removeRules",
  "setMode",
  "addDirectories",
  "removeDirectories",
];

/** Whether a suggestion is of a kind that is not known here: it can only be taken as it is, where the CLI would keep it. */
export function isOfTomorrow(s: Suggestion): boolean {
  return isObject(s.update) && !knownUpdates.includes(str(s.update, "type"));
}

/** The suggestions of a question that can be taken, each with its number, which is its name. A CLI may also suggest null. */
export function suggestionsOf(q: Question): readonly { index: number; suggestion: Suggestion }[] {
  return (q.suggestions ?? [])
    .map((suggestion, index) => ({ index, suggestion }))
    .filter(({ suggestion }) => isObject(suggestion.update) || (suggestion.update === undefined && suggestion.text !== ""));
}

/** The rules that a suggestion would allow, as they are written; none if it does something else. */
export function rulesOf(s: Suggestion): readonly string[] {
  if (str(s.update, "type") !== "addRules" || str(s.update, "behavior") !== "allow") return [];
  return arr(s.update, "rules").flatMap((rule) => {
    const [tool, content] = [str(rule, "toolName"), str(rule, "ruleContent")];
    return tool === "" ? [] : [content === "" ? tool : `${tool}(${content})`];
  });
}

/** What a suggestion would allow, in the words of the console; else in those of the hub. */
export function suggestionText(s: Suggestion): string {
  const rules = rulesOf(s);
  if (rules.length > 0) return rules.join(", ");
  const mode = str(s.update, "type") === "setMode" ? str(s.update, "mode") : "";
  return mode === "" ? s.text : t.allEdits(modeName(mode));
}

/** The rule about its host that a question of the sandbox suggests, with its number; undefined if no rule can name the host. */
export function hostRuleOf(q: Question): { index: number; rule: string } | undefined {
  if (q.tool !== networkAccess) return undefined;
  for (const { index, suggestion } of suggestionsOf(q)) {
    const [rule, ...others] = rulesOf(suggestion);
    if (rule !== undefined && others.length === 0 && isHostRule(rule)) return { index, rule };
  }
  return undefined;
}

/** Where what is allowed for good can be kept; undefined stands for where the CLI itself keeps it. */
export function destinationsOf(what: { suggestion: Suggestion } | { rule: string }): readonly (Destination | undefined)[] {
  // The CLI's settings know no hosts.
  if ("rule" in what) return isHostRule(what.rule) ? ["switchboard"] : [...suggestionDestinations, "switchboard"];
  return isOfTomorrow(what.suggestion) ? [undefined] : suggestionDestinations;
}

/** What to allow from now on: a suggestion of the question, by its number. */
export function alwaysSuggestion(index: number, destination: Destination | undefined): Always {
  return destination ? { suggestion: index, destination } : { suggestion: index };
}

/** What to allow from now on: a rule, such as Bash(npm test:*). */
export function alwaysRule(rule: string, destination: Destination): Always {
  return { rule: rule.trim(), destination };
}

/** What was chosen for one question of a choice. */
export interface Given {
  readonly labels: readonly string[];
  readonly text: string;
  readonly notes: string;
  readonly skip: boolean;
}

export const nothingGiven: Given = { labels: [], text: "", notes: "", skip: false };

export function isGiven(g: Given): boolean {
  return g.skip || g.labels.length > 0 || g.text.trim() !== "";
}

/** Chooses a label, or takes it back where several may be chosen. Labels stay in the order in which they are offered. */
export function withLabel(g: Given, label: string, options: readonly string[], multiple: boolean): Given {
  if (!multiple) return { ...g, labels: [label], text: "", skip: false };
  const chosen = g.labels.includes(label) ? g.labels.filter((l) => l !== label) : [...g.labels, label];
  return { ...g, labels: [...new Set(options)].filter((l) => chosen.includes(l)), skip: false };
}

/** Answers in one's own words: beside labels only where several may be chosen. */
export function withText(g: Given, text: string, multiple: boolean): Given {
  const said = text.trim() !== "";
  return { ...g, text, labels: multiple || !said ? g.labels : [], skip: said ? false : g.skip };
}

/** Leaves a question out, or takes that back. */
export function withSkip(g: Given, skip: boolean): Given {
  return skip ? { ...nothingGiven, skip: true } : { ...g, skip: false };
}

export type ChoiceResult = { answer: Answer } | { missing: number };

/**
 * Answers a choice; or says which of its questions has no answer yet. If all of them are skipped none is answered, which is a refusal for
 * the hub.
 */
export function choose(q: Question, given: readonly Given[]): ChoiceResult {
  const choices = choicesOf(q);
  const missing = choices.findIndex((_, i) => !isGiven(given[i] ?? nothingGiven));
  if (missing >= 0) return { missing };
  const answers: [string, ChoiceAnswer][] = choices.map((c, i) => [c.question, choiceAnswer(given[i] ?? nothingGiven)]);
  if (answers.every(([, a]) => a.skip)) return { answer: deny("") };
  // Object.fromEntries, since a question's text may be any name, "__proto__" too.
  return { answer: { decision: "allow", choices: Object.fromEntries(answers) } };
}

function choiceAnswer(g: Given): ChoiceAnswer {
  if (g.skip) return { skip: true };
  const answer: ChoiceAnswer = {};
  if (g.labels.length > 0) answer.labels = [...g.labels];
  if (g.text.trim() !== "") answer.text = g.text.trim();
  if (g.notes.trim() !== "") answer.notes = g.notes.trim();
  return answer;
}

/** Whether the questions of a choice can be answered one by one: their texts are the names of their answers, so two must not have the same. */
export function isAnswerable(q: Question): boolean {
  const texts = choicesOf(q).map((c) => c.question);
  return texts.length > 0 && new Set(texts).size === texts.length;
}

/** Answers a dialog of the CLI's own. */
export function chooseResult(result: Json): Answer {
  return { decision: "choose", result };
}

/** Leaves a dialog without a choice, or a form that nobody has decided about. */
export const cancel: Answer = { decision: "cancel" };

/** Says no to a form. */
export const decline: Answer = { decision: "decline" };

/** Accepts a form with what was filled in, or a page that was visited, with nothing. */
export function accept(content?: { [name: string]: Json }): Answer {
  return content ? { decision: "accept", content } : { decision: "accept" };
}
