/** A text as TOML writes it. It has the same escapes as JSON, and wants one more character escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

/** What a rules file says so that rules hold in all sessions. */
export function ruleLines(rules: readonly string[]): string {
  return rules.map((rule) => `[[rule]]\nrule = ${quoted(rule)}\ndecision = "allow"\n`).join("\n");
}

/** A rules file with rules behind what it has: a table at its end belongs to the file as a whole, whatever stands before. */
export function withRules(text: string, rules: readonly string[]): string {
  if (text.trim() === "") return ruleLines(rules);
  return `${text.replace(/\n*$/, "\n")}\n${ruleLines(rules)}`;
}
