import type { Created } from "../api/types";
import { quote } from "../steer/handback";

const flags = [
  "--print",
  "--verbose",
  "--input-format=stream-json",
  "--output-format=stream-json",
  "--include-partial-messages",
  "--replay-user-messages",
];

/**
 * The command, as a shell takes it, that starts a Claude Code which dials in: the same as `switchboard token create --session` writes. The
 * credential is in the environment, for arguments can be seen by everybody on a machine. Undefined if the answer holds none, as one that
 * is given again does not.
 */
export function dialLine(dir: string, made: Pick<Created, "token" | "url">, post: boolean): string | undefined {
  if (!made.token || !made.url) return undefined;
  return [
    `cd ${quote(dir)} &&`,
    ...(post ? ["CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1 \\"] : []),
    `CLAUDE_CODE_SESSION_ACCESS_TOKEN=${quote(made.token)} \\`,
    ["claude", quote(`--sdk-url=${made.url}`), ...flags].join(" "),
  ].join("\n");
}
