import { KeyRound, Plus } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { asError } from "../api/error";
import type { CreatedToken, Token } from "../api/types";
import { type Scope, useHub } from "../store/hub";
import { appTexts as texts } from "../texts/app";
import { Button } from "../ui/buttons";
import { CopyButton } from "../ui/CopyButton";
import { confirm, Dialog, useDialog } from "../ui/dialogs";
import { Checkbox, Field, TextInput } from "../ui/fields";
import { formatMoment } from "../ui/format";
import { ErrorNote, Note } from "../ui/notes";
import { Badge } from "../ui/signs";
import { Ago } from "../ui/values";
import { Devices } from "./AccessDevices";
import { Section } from "./Section";
import css from "./Settings.module.css";

const t = texts.settings;
const allScopes: readonly Scope[] = ["observe", "prompt", "approve", "admin"];

/** The devices and tokens of the hub, as far as they are known. */
export interface Access {
  readonly tokens?: readonly Token[];
  readonly error?: Error;
  load(): Promise<void>;
}

/** The tokens of a kind. */
export function tokensOf(access: Access, kind: "device" | "token"): readonly Token[] {
  return access.tokens?.filter((one) => (one.kind === "device") === (kind === "device")) ?? [];
}

/** Who may use the hub: devices, and programs with tokens. */
export function AccessSections() {
  const hub = useHub();
  const may = hub.can("admin");
  const [tokens, setTokens] = useState<readonly Token[]>();
  const [error, setError] = useState<Error>();
  const load = useCallback(async () => {
    setError(undefined);
    try {
      setTokens((await hub.api.call("list-tokens")).tokens ?? []);
    } catch (e) {
      setError(asError(e));
    }
  }, [hub]);
  useEffect(() => {
    if (may) void load();
  }, [may, load]);
  if (!may)
    return (
      <Section title={t.devices}>
        <p className={css.why}>
          {t.tokensNeedAdmin}
          {allScopes.filter((scope) => hub.can(scope)).join(", ")}
        </p>
      </Section>
    );
  return (
    <>
      <Devices access={{ tokens, error, load }} />
      <Tokens access={{ tokens, error, load }} />
    </>
  );
}

/** The tokens of programs. */
function Tokens({ access }: { access: Access }) {
  const hub = useHub();
  const dialog = useDialog();
  const tokens = tokensOf(access, "token");
  const revoke = async (token: Token) => {
    const run = () => hub.api.call("revoke-token", { params: { id: token.id } });
    const [title, text] = token.current
      ? [t.revokeSelfTitle(token.name), t.revokeSelfText]
      : [t.revokeTitle(token.name), t.revokeText];
    if (await confirm({ title, children: <p>{text}</p>, action: t.revoke, danger: true, run })) await access.load();
  };
  return (
    <Section title={t.tokens}>
      <p className={css.why}>{t.tokensWhy}</p>
      {access.tokens && tokens.length === 0 && <p className={css.why}>{t.tokensNone}</p>}
      <ul className={css.tokens} aria-label={t.tokens}>
        {tokens.map((token) => (
          <li key={token.id} className={css.token}>
            <KeyRound size={14} aria-hidden="true" />
            <span className={css.tokenName}>
              {token.name} {token.current && <Badge tone="accent">{t.thisToken}</Badge>}
            </span>
            <Button size="s" variant="danger" onPress={() => void revoke(token)}>
              {t.revoke}
            </Button>
            <TokenFacts token={token} created={t.created} />
          </li>
        ))}
      </ul>
      <div>
        <Button icon={<Plus size={16} />} onPress={dialog.open}>
          {t.newToken}
        </Button>
      </div>
      {dialog.isOpen && <NewToken onClose={dialog.close} onMade={() => void access.load()} />}
    </Section>
  );
}

/** What a list tells of a token beside its name. */
export function TokenFacts({ token, created }: { token: Token; created: string }) {
  const scopes = token.scopes ?? [];
  const expired = token.expires !== undefined && Date.parse(token.expires) < Date.now();
  return (
    <span className={css.tokenFacts}>
      <span>{allScopes.every((scope) => scopes.includes(scope)) ? t.allScopes : scopes.join(", ")}</span>
      <span>
        {created} <Ago time={token.created} />
      </span>
      {/* The hub does not record when its own admin token is used. */}
      {token.kind === "admin" && !token.used ? (
        <span>{t.unknownUse}</span>
      ) : (
        <span>
          {t.used} {token.used ? <Ago time={token.used} /> : t.never}
        </span>
      )}
      {token.expires &&
        (expired ? <Badge tone="warn">{t.expired}</Badge> : <span>{`${t.expires} ${formatMoment(token.expires)}`}</span>)}
    </span>
  );
}

function NewToken({ onClose, onMade }: { onClose(): void; onMade(): void }) {
  const hub = useHub();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["observe"]);
  return (
    <MakeDialog<CreatedToken>
      title={t.newToken}
      action={t.create}
      isDisabled={!name.trim() || scopes.length === 0}
      make={async () => {
        const made = await hub.api.call("create-token", { body: { name: name.trim(), scopes: [...scopes] } });
        onMade();
        return made;
      }}
      show={(made) => (
        <Note tone="ok" title={t.tokenMade}>
          <div className={css.secret}>
            <code>{made.text}</code>
            <CopyButton text={made.text} />
          </div>
        </Note>
      )}
      onClose={onClose}
    >
      <TextInput label={t.tokenName} hint={t.tokenNameHint} value={name} onChange={setName} autoFocus />
      <ScopeBoxes label={t.tokenScopes} scopes={scopes} onChange={setScopes} />
    </MakeDialog>
  );
}

/** A dialog that makes something which is told once: at first what it shall be, then what was made. */
export function MakeDialog<T>({
  title,
  action,
  isDisabled,
  make,
  show,
  onClose,
  children,
}: {
  title: string;
  /** The words on the button that makes it. */
  action: string;
  isDisabled: boolean;
  make(): Promise<T>;
  show(made: T): ReactNode;
  onClose(): void;
  children: ReactNode;
}) {
  const [made, setMade] = useState<{ readonly it: T }>();
  const [error, setError] = useState<Error>();
  const [pending, setPending] = useState(false);
  const create = async () => {
    setPending(true);
    setError(undefined);
    try {
      setMade({ it: await make() });
    } catch (e) {
      setError(asError(e));
    } finally {
      setPending(false);
    }
  };
  const button = made ? (
    <Button variant="primary" onPress={onClose}>
      {t.done}
    </Button>
  ) : (
    <Button variant="primary" isPending={pending} isDisabled={isDisabled} onPress={() => void create()}>
      {action}
    </Button>
  );
  return (
    <Dialog title={title} isOpen onClose={onClose} isDismissable={false} actions={button}>
      {made ? (
        show(made.it)
      ) : (
        <div className={css.form}>
          {children}
          <ErrorNote error={error} />
        </div>
      )}
    </Dialog>
  );
}

/** Boxes to choose scopes, those that this page has. */
export function ScopeBoxes({
  label,
  scopes,
  onChange,
}: {
  label: string;
  scopes: readonly Scope[];
  onChange(scopes: readonly Scope[]): void;
}) {
  const hub = useHub();
  return (
    <Field label={label}>
      <div className={css.scopes}>
        {allScopes.map((scope) => (
          <Checkbox
            key={scope}
            isSelected={scopes.includes(scope)}
            isDisabled={!hub.can(scope)}
            hint={t.scopeHints[scope]}
            onChange={(on) => onChange(allScopes.filter((one) => (one === scope ? on : scopes.includes(one))))}
          >
            {scope}
          </Checkbox>
        ))}
      </div>
    </Field>
  );
}
