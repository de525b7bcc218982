import { Archive, ArchiveRestore, Square } from "lucide-react";
import type { SessionSummary } from "../api/types";
import { useHub } from "../store/hub";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { type Act, isAlive } from "./actions";
import css from "./BulkBar.module.css";

const t = sessionsTexts.bulk;

interface Props {
  archive: boolean;
  all: readonly SessionSummary[];
  chosen: readonly SessionSummary[];
  pending: Act | undefined;
  onChoose(ids: readonly string[]): void;
  onAct(act: Act, on: readonly SessionSummary[]): void;
}

/** What can be done with the sessions that are chosen. */
export function BulkBar({ archive, all, chosen, pending, onChoose, onAct }: Props) {
  const hub = useHub();
  const everything = chosen.length === all.length && all.length > 0;
  const button = (act: Act, scope: "admin" | "prompt", label: string, icon: React.ReactNode, on: readonly SessionSummary[]) => (
    <Button
      size="s"
      icon={icon}
      variant={act === "stop" ? "danger" : "plain"}
      isPending={pending === act}
      isDisabled={on.length === 0 || !hub.can(scope) || (pending !== undefined && pending !== act)}
      reason={hub.can(scope) ? undefined : sessionsTexts.scopes[scope]}
      onPress={() => onAct(act, on)}
    >
      {label}
    </Button>
  );
  return (
    <div className={css.bar} role="toolbar" aria-label={t.bar}>
      <span className={css.count} aria-live="polite">
        {t.chosen(chosen.length)}
      </span>
      <Button size="s" variant="quiet" onPress={() => onChoose(everything ? [] : all.map((s) => s.id))}>
        {everything ? t.none : t.all}
      </Button>
      {button("stop", "admin", t.stop, <Square size={14} />, chosen.filter(isAlive))}
      {archive
        ? button("unarchive", "prompt", t.unarchive, <ArchiveRestore size={14} />, chosen)
        : button("archive", "prompt", t.archive, <Archive size={14} />, chosen)}
    </div>
  );
}
