import { useCallback, useEffect, useRef, useState } from "react";
import type { Preferences, SavePreferences } from "../api/types";
import { type Hub, useHub } from "../store/hub";
import { isSandboxMode } from "../texts/sandbox";
import { toastError } from "../ui/toast";
import { folderProblem, type SessionForm } from "./form";

/** The fields of the form that a person can prefer. */
export const preferred = [
  "mode",
  "model",
  "sandbox",
  "autoAllow",
  "allow",
  "deny",
] as const satisfies readonly (keyof SessionForm)[];
export type Preferred = Pick<SessionForm, (typeof preferred)[number]>;

/** How long the folder is left alone while it is being typed before the hub is asked, in milliseconds. */
const pause = 200;

/** What the fields are by preferences; those that these say nothing about are absent. */
export function fieldsOf(p: Preferences): Partial<Preferred> {
  return {
    ...(p.permission_mode ? { mode: p.permission_mode } : {}),
    ...(p.model ? { model: p.model } : {}),
    // They belong together: one without the other means something else.
    ...(p.sandbox ? { sandbox: p.sandbox, autoAllow: p.sandbox_auto_allow ?? false } : {}),
    ...(p.allow?.length ? { allow: p.allow.join("\n") } : {}),
    ...(p.deny?.length ? { deny: p.deny.join("\n") } : {}),
  };
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** What is remembered of a form for its folder. The mode that asks nobody is not. */
export function toSave(form: SessionForm): SavePreferences {
  const allow = lines(form.allow);
  const deny = lines(form.deny);
  return {
    dir: form.dir.trim(),
    ...(form.mode !== "bypassPermissions" ? { permission_mode: form.mode } : {}),
    ...(form.model.trim() ? { model: form.model.trim() } : {}),
    ...(isSandboxMode(form.sandbox) ? { sandbox: form.sandbox } : {}),
    ...(form.sandbox === "strict" && form.autoAllow ? { sandbox_auto_allow: true } : {}),
    ...(allow.length > 0 ? { allow } : {}),
    ...(deny.length > 0 ? { deny } : {}),
  };
}

/**
 * Gives a form what its person prefers in its folder: fields that were not touched become what is preferred, or what they were at first
 * where nothing is. It returns whether something is, and what tells it that a field was touched, or that the form begins anew.
 */
export function usePreferences(
  form: SessionForm,
  set: (fields: Partial<Preferred>) => void,
  typed: boolean,
): { used: boolean; touch(name: keyof SessionForm): void; restart(base: SessionForm): void } {
  const hub = useHub();
  const [used, setUsed] = useState(false);
  const base = useRef<SessionForm>(form);
  const touched = useRef(new Set<keyof SessionForm>(typed ? preferred : []));
  const apply = useRef(set);
  apply.current = set;
  const dir = form.dir.trim();
  useEffect(() => {
    if (folderProblem(dir)) {
      setUsed(false);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      let fields: Partial<Preferred>;
      try {
        fields = fieldsOf((await hub.api.call("get-preferences", { query: { dir }, signal: abort.signal })).effective);
      } catch {
        return; // the form is as good without
      }
      if (abort.signal.aborted) return;
      const untouched = preferred.filter((name) => !touched.current.has(name));
      const next: Partial<Preferred> = Object.fromEntries(untouched.map((name) => [name, fields[name] ?? base.current[name]]));
      setUsed(untouched.some((name) => fields[name] !== undefined));
      apply.current(next);
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [hub, dir]);
  const touch = useCallback((name: keyof SessionForm) => void touched.current.add(name), []);
  const restart = useCallback((form: SessionForm) => {
    base.current = form;
    touched.current = new Set();
    setUsed(false);
  }, []);
  return { used, touch, restart };
}

/** Remembers the choices of a form for its folder; what goes wrong is told beside, since the session has begun. */
export async function savePreferences(hub: Hub, form: SessionForm): Promise<void> {
  try {
    await hub.api.call("save-preferences", { body: toSave(form) });
  } catch (e) {
    toastError(e);
  }
}
