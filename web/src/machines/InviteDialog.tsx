import { CircleCheck, TriangleAlert } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import type { Node, NodeInvitation } from "../api/types";
import { FormDialog } from "../sessions/FormDialog";
import { useHub } from "../store/hub";
import { machinesTexts } from "../texts/machines";
import { Button } from "../ui/buttons";
import { CopyLine } from "../ui/CopyButton";
import { Select, TextArea, TextInput } from "../ui/fields";
import { formatMoment } from "../ui/format";
import { useNow } from "../ui/hooks";
import { Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { visible } from "../ui/visible";
import { emptyInvite, type InviteErrors, type InviteForm, isLoopback, toInvitation } from "./invite";
import css from "./Machines.module.css";
import { isConnected } from "./machines";

const t = machinesTexts.invite;

/** The dialog that invites a machine: at first what it shall be called, then the command to run there, and whether it has come. */
export function InviteDialog({ nodes, onClose, onMade }: { nodes: readonly Node[]; onClose(): void; onMade(): void }) {
  const hub = useHub();
  const [form, setForm] = useState<InviteForm>(emptyInvite);
  const [errors, setErrors] = useState<InviteErrors>({});
  const [error, setError] = useState<ApiError>();
  const [pending, setPending] = useState(false);
  /** The invitation, and the machines that were there before it. */
  const [made, setMade] = useState<{ invitation: NodeInvitation; before: ReadonlySet<string> }>();
  const body = useRef<HTMLFormElement>(null);

  const field = (name: keyof InviteForm) => ({
    value: form[name],
    error: errors[name],
    onChange: (value: string) => {
      setForm({ ...form, [name]: value });
      setErrors({ ...errors, [name]: undefined });
    },
  });

  const submit = async (): Promise<void> => {
    if (pending || !hub.can("admin")) return;
    const { request, errors: wrong } = toInvitation(form, nodes);
    setErrors(wrong ?? {});
    setError(undefined);
    if (!request) {
      // The field is marked only when the new errors are drawn.
      requestAnimationFrame(() => body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    setPending(true);
    try {
      const before = new Set(nodes.map(({ id }) => id));
      setMade({ invitation: await hub.api.call("invite-node", { body: request }), before });
      onMade();
    } catch (e) {
      setError(asApiError(e));
    } finally {
      setPending(false);
    }
  };

  const sent = made && {
    actions: (
      <>
        <Button onPress={() => setMade(undefined)}>{t.again}</Button>
        <Button variant="primary" onPress={onClose}>
          {t.done}
        </Button>
      </>
    ),
    children: <Made invitation={made.invitation} joined={joinedOf(nodes, made.before, form.name.trim())} />,
  };

  return (
    <FormDialog
      title={t.title}
      action={t.submit}
      pending={pending}
      error={error}
      onSubmit={submit}
      onCancel={onClose}
      onClose={onClose}
      formRef={body}
      sent={sent}
    >
      <p className={css.dim}>{t.intro}</p>
      <TextInput
        label={t.name}
        hint={t.nameHint}
        autoFocus
        input={{ autoComplete: "off", spellCheck: false }}
        {...field("name")}
      />
      <TextArea label={t.labels} hint={t.labelsHint} mono minRows={2} maxRows={6} {...field("labels")} />
      <div className={css.pair}>
        <TextInput label={t.most} hint={t.mostHint} input={{ inputMode: "numeric" }} {...field("most")} />
        <Select
          label={t.expiry}
          items={Object.entries(t.expiries).map(([id, label]) => ({ id, label }))}
          value={form.ttl}
          onChange={(ttl) => setForm({ ...form, ttl })}
        />
      </div>
    </FormDialog>
  );
}

/** The machine that came since an invitation: the one of its name, or any new one where it may choose its name. */
function joinedOf(nodes: readonly Node[], before: ReadonlySet<string>, name: string): Node | undefined {
  return nodes.find((node) => !before.has(node.id) && (name === "" || node.name === name));
}

/** What to run on the machine, and whether it has been. */
function Made({ invitation, joined }: { invitation: NodeInvitation; joined: Node | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The form had the focus, and is gone.
  useEffect(() => heading.current?.focus(), []);
  const expired = useNow(1000) >= Date.parse(invitation.expires);
  return (
    <>
      <h3 ref={heading} tabIndex={-1} className={css.made}>
        {t.made}
      </h3>
      <CopyLine text={invitation.command} label={t.copy} name={t.made} />
      {expired && !joined ? (
        <Note tone="warn">{t.expired}</Note>
      ) : (
        <p className={css.dim}>{t.expires(formatMoment(invitation.expires))}</p>
      )}
      {isLoopback(invitation.url) && (
        <Note tone="warn" icon={<TriangleAlert size={16} aria-hidden="true" />} title={t.local}>
          <p>{t.localHint}</p>
          <CopyLine text={t.localCommand} label={t.copyLocal} />
        </Note>
      )}
      <p>{t.start}</p>
      <CopyLine text={t.run} label={t.copyRun} />
      <div className={css.status} role="status">
        {joined ? (
          <span className={css.joined}>
            <CircleCheck size={16} aria-hidden="true" />{" "}
            {isConnected(joined) ? t.connected(visible(joined.name)) : t.joined(visible(joined.name))}
          </span>
        ) : (
          !expired && (
            <>
              <Spinner /> {t.waiting}
            </>
          )
        )}
      </div>
    </>
  );
}
