import { Brain, ChevronDown, ShieldCheck, ShieldOff } from "lucide-react";
import { type ComponentProps, type ReactNode, useCallback } from "react";
import type { UpdateSession } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { dangerousMode, modes } from "../texts/modes";
import { steerTexts as t } from "../texts/steer";
import { Button, MenuButton, type MenuEntry } from "../ui/buttons";
import { classes } from "../ui/classes";
import { toastError } from "../ui/toast";
import { useAct } from "./act";
import { confirmBypass } from "./bypass";
import css from "./Choices.module.css";
import { titleOf } from "./Title";
import { allowsBypass, currentModel, modelsOf, nextMode, shortModel } from "./told";
import { refusal, useSession } from "./useSession";

/** How many tokens of thought can be chosen; none is off. */
const thinkingSteps = [0, 4_000, 10_000, 31_999] as const;

/** Changes a session, and says so where it fails: the menu that asked for it has closed by then. */
export function useUpdate(session: OpenSession): { pending: boolean; update(change: UpdateSession): void } {
  const { api } = useHub();
  const { pending, run } = useAct();
  const update = useCallback(
    (change: UpdateSession) =>
      void run(() => api.call("update-session", { params: { id: session.id }, body: change }).catch(toastError)),
    [api, run, session.id],
  );
  return { pending, update };
}

/** Changes the permission mode, and asks before one that asks nothing any more. */
export function useMode(session: OpenSession): { pending: boolean; choose(mode: string): void; cycle(): void } {
  const { api } = useHub();
  const { pending, update } = useUpdate(session);
  const choose = useCallback(
    (mode: string) => {
      if (mode !== dangerousMode) {
        update({ permission_mode: mode });
        return;
      }
      const run = () => api.call("update-session", { params: { id: session.id }, body: { permission_mode: mode } });
      const about = session.snapshot.get().session;
      void confirmBypass({ run, ...(about ? { title: titleOf(about) } : {}) });
    },
    [api, session, update],
  );
  const cycle = useCallback(() => choose(nextMode(session.snapshot.get().session?.permission_mode)), [choose, session]);
  return { pending, choose, cycle };
}

/** The permission mode, and a menu of all. */
export function ModeChoice({ session, className }: { session: OpenSession; className?: string }) {
  const hub = useHub();
  const snapshot = useSession(session);
  const { pending, choose } = useMode(session);
  const mode = snapshot?.permission_mode || snapshot?.options?.permission_mode || "default";
  const bypass = mode === dangerousMode;
  const known = modes.some((m) => m === mode);
  const entry = (id: string): MenuEntry => {
    const forbidden =
      id !== dangerousMode || bypass
        ? undefined
        : !allowsBypass(snapshot)
          ? t.bypassNotStarted
          : hub.can("admin")
            ? undefined
            : t.bypassNeedsAdmin;
    return {
      id,
      label: t.modeName(id),
      hint: forbidden ?? t.modeHint(id),
      checked: id === mode,
      isDisabled: forbidden !== undefined,
      danger: id === dangerousMode,
      run: () => id !== mode && choose(id),
    };
  };
  return (
    <Chip
      label={t.modeIs(t.modeName(mode))}
      text={t.modeName(mode)}
      icon={bypass ? <ShieldOff size={14} aria-hidden="true" /> : <ShieldCheck size={14} aria-hidden="true" />}
      className={classes(bypass && css.danger, mode === "plan" && css.plan, className)}
      pending={pending}
      reason={refusal(hub, snapshot, { scope: "approve", running: true })}
      items={[{ title: t.mode, entries: [...modes, ...(known ? [] : [mode])].map(entry) }]}
    />
  );
}

/** The model and how much it thinks, and a menu of both. */
export function ModelChoice({ session, className }: { session: OpenSession; className?: string }) {
  const hub = useHub();
  const snapshot = useSession(session);
  const { pending, update } = useUpdate(session);
  const models = modelsOf(snapshot);
  const told = snapshot?.model ?? "";
  // The CLI tells its model with the next turn: what was chosen since then counts until it does.
  const chosen = snapshot?.options?.model || told;
  const current = currentModel(models, chosen);
  // The default one is called what it is: "default" says nothing.
  const name = current && current.value !== "" ? current.label : chosen ? shortModel(chosen) : (current?.label ?? t.modelUnknown);
  const thinking = snapshot?.options?.max_thinking_tokens;
  const modelEntries: MenuEntry[] = models.map((m) => ({
    id: `model ${m.value}`,
    label: m.label,
    ...(m.hint ? { hint: m.hint } : {}),
    checked: m === current,
    run: () => update({ model: m.value }),
  }));
  return (
    <Chip
      label={t.modelIs(name)}
      text={name}
      title={told ? t.modelNow(told) : undefined}
      icon={<Brain size={14} aria-hidden="true" />}
      className={classes(css.model, className)}
      pending={pending}
      reason={refusal(hub, snapshot, { scope: "prompt", running: true })}
      items={[
        {
          title: t.model,
          entries: modelEntries.length > 0 ? modelEntries : [{ id: "none", label: t.noModels, isDisabled: true }],
        },
        {
          title: t.thinking,
          entries: thinkingSteps.map((n) => ({
            id: `thinking ${n}`,
            label: n === 0 ? t.thinkingOff : t.thinkingTokens(n),
            ...(n === 0 ? { hint: t.thinkingHint } : {}),
            checked: thinking === n,
            run: () => update({ max_thinking_tokens: n }),
          })),
        },
      ]}
    />
  );
}

interface ChipProps {
  label: string;
  text: string;
  title?: string;
  icon: ReactNode;
  pending: boolean;
  reason: string | undefined;
  className?: string;
  items: ComponentProps<typeof MenuButton>["items"];
}

/** A small button that shows a choice and brings up the others. One that may not be used says why, and brings up nothing. */
function Chip({ label, text, title, icon, pending, reason, className, items }: ChipProps) {
  const shown = (
    <span className={css.text} title={title}>
      {text}
    </span>
  );
  if (reason) {
    return (
      <Button
        variant="quiet"
        size="s"
        icon={icon}
        aria-label={label}
        className={classes(css.chip, className)}
        isDisabled
        reason={reason}
      >
        {shown}
      </Button>
    );
  }
  return (
    <MenuButton
      label={label}
      items={items}
      variant="quiet"
      size="s"
      icon={icon}
      className={classes(css.chip, className)}
      isPending={pending}
      placement="top start"
    >
      {shown}
      <ChevronDown size={12} aria-hidden="true" className={css.arrow} />
    </MenuButton>
  );
}
