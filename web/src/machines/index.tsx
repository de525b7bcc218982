import { Plus, Server } from "lucide-react";
import { useRef } from "react";
import { useCommands } from "../app/commands";
import { useKeys } from "../app/keys";
import { PageHeader } from "../app/PageHeader";
import { useHub } from "../store/hub";
import { machinesTexts as t } from "../texts/machines";
import { Button } from "../ui/buttons";
import { useDialog } from "../ui/dialogs";
import { useWide } from "../ui/hooks";
import { EmptyState, ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { InviteDialog } from "./InviteDialog";
import { MachineCard } from "./MachineCard";
import css from "./Machines.module.css";
import { arrangeMachines, isConnected } from "./machines";
import { useMachines } from "./useMachines";

/** The page of the machines beside the hub's own on which agents run. */
export function MachinesPage() {
  const admin = useHub().can("admin");
  const { value, error, loading, again } = useMachines();
  const dialog = useDialog();
  const wide = useWide();
  const list = useRef<HTMLUListElement>(null);
  const nodes = arrangeMachines(value ?? []);
  useKeys(t.title, [
    { keys: "a", label: t.keys.add, when: admin, run: dialog.open },
    { keys: "j", label: t.keys.next, run: () => step(list.current, 1) },
    { keys: "k", label: t.keys.previous, run: () => step(list.current, -1) },
  ]);
  useCommands(t.title, admin ? [{ id: "machines.add", label: t.keys.add, keys: "a", run: dialog.open }] : []);
  const add = (
    <Button variant="primary" icon={<Plus size={16} />} kbd="a" isDisabled={!admin} reason={t.needAdmin} onPress={dialog.open}>
      {t.invite.button}
    </Button>
  );
  return (
    <div className={css.page}>
      <PageHeader
        title={t.title}
        backTo={{ page: "settings" }}
        beside={wide && nodes.length > 0 && t.summary(nodes.length, nodes.filter(isConnected).length)}
        actions={nodes.length > 0 && add}
      />
      <div className={css.scroll}>
        <div className={css.inner}>
          <ErrorNote error={error} onRetry={() => void again()} />
          {!value && loading && <Spinner label="" />}
          {value && nodes.length === 0 && (
            <EmptyState icon={<Server />} title={t.empty.title}>
              <p>{t.empty.what}</p>
              <p>{t.empty.how}</p>
              {add}
              <p className={css.terminal}>
                {t.empty.terminal} <code>{t.empty.command}</code>
              </p>
            </EmptyState>
          )}
          <ul ref={list} className={css.list} aria-label={t.list}>
            {nodes.map((node) => (
              <li key={node.id} className={css.item}>
                <MachineCard node={node} onChanged={() => void again()} />
              </li>
            ))}
          </ul>
        </div>
      </div>
      {dialog.isOpen && <InviteDialog nodes={value ?? []} onClose={dialog.close} onMade={() => void again()} />}
    </div>
  );
}

/** Gives the focus to the machine after or before the one that has it. */
function step(list: HTMLElement | null, by: 1 | -1): void {
  const cards = [...(list?.querySelectorAll<HTMLElement>("[data-machine]") ?? [])];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = at < 0 ? (by > 0 ? 0 : cards.length - 1) : Math.min(cards.length - 1, Math.max(0, at + by));
  cards[next]?.focus();
}
