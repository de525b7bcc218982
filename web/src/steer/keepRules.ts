import type { Preferences, SavePreferences, SessionRule } from "../api/types";
import type { Hub } from "../store/hub";

/** The rules of a session that can be kept for its folder: those that allow or deny, and do not expire. */
export function keepable(rules: readonly SessionRule[]): SessionRule[] {
  return rules.filter((r) => !r.expires && r.rule !== "*" && (r.decision === "allow" || r.decision === "deny"));
}

function added(list: readonly string[] | null | undefined, rules: readonly SessionRule[], decision: string): string[] {
  return [...new Set([...(list ?? []), ...rules.filter((r) => r.decision === decision).map((r) => r.rule)])];
}

/** Adds rules to what is preferred. */
export function withRules(p: Preferences, rules: readonly SessionRule[]): Preferences {
  const allow = added(p.allow, rules, "allow");
  const deny = added(p.deny, rules, "deny");
  return { ...p, ...(allow.length > 0 ? { allow } : {}), ...(deny.length > 0 ? { deny } : {}) };
}

/** Has new sessions in a folder begin with these rules too. */
export async function keepRules(hub: Hub, dir: string, rules: readonly SessionRule[]): Promise<true> {
  const { saved } = await hub.api.call("get-preferences", { query: { dir } });
  const { permission_mode, model, sandbox, sandbox_auto_allow, allow, deny } = saved?.find((s) => s.dir === dir) ?? {};
  const before: Preferences = {
    ...(permission_mode ? { permission_mode } : {}),
    ...(model ? { model } : {}),
    ...(sandbox ? { sandbox } : {}),
    ...(sandbox_auto_allow ? { sandbox_auto_allow } : {}),
    ...(allow ? { allow } : {}),
    ...(deny ? { deny } : {}),
  };
  // A mode of a newer hub is sent back as it came.
  await hub.api.call("save-preferences", { body: { dir, ...withRules(before, rules) } as SavePreferences });
  return true;
}
