import { KeyRound, Plus } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import type { Code, CreatedToken, Token } from "../api/types";
import { type Scope, useHub } from "../store/hub";
import { appTexts as texts } from "../texts/app";
import {
  Ago,
  Badge,
  Button,
  Checkbox,
  CopyButton,
  confirm,
  Dialog,
  ErrorNote,
  Field,
  formatMoment,
  formatTime,
  Note,
  Spinner,
  TextInput,
  useDialog,
} from "../ui";
import { Section } from "./Section";
import css from "./Settings.module.css";

const t = texts.settings;
const allScopes: readonly Scope[] = ["observe", "prompt", "approve", "admin"];

/** A link that logs another browser in, once. */
export function Devices() {
  const hub = useHub();
  const [scopes, setScopes] = useState<readonly Scope[]>(["observe", "prompt", "approve"]);
  const [code, setCode] = useState<Code>();
  const [error, setError] = useState<Error>();
  const [pending, setPending] = useState(false);
  if (!hub.can("admin")) return null;
  const make = async () => {
    setPending(true);
    setError(undefined);
    try {
      setCode(await hub.api.call("create-code", { body: { scopes: [...scopes] } }));
    } catch (e) {
      setError(asError(e));
    } finally {
      setPending(false);
    }
  };
  const local = code !== undefined && /^(localhost|127\.|\[::1\])/.test(new URL(code.url).hostname);
  return (
    <Section title={t.devices}>
      <p className={css.why}>{t.devicesWhy}</p>
      <ScopeBoxes label={t.linkScopes} scopes={scopes} onChange={setScopes} />
      <div>
        <Button isPending={pending} isDisabled={scopes.length === 0} onPress={() => void make()}>
          {t.makeLink}
        </Button>
      </div>
      <ErrorNote error={error} />
      {code && (
        <Note tone="ok" title={t.linkMade}>
          <div className={css.secret}>
            <code>{code.url}</code>
            <CopyButton text={code.url} />
          </div>
          <p>{t.linkExpires(formatTime(code.expires))}</p>
          {local && <p>{t.linkLocal}</p>}
        </Note>
      )}
    </Section>
  );
}

/** Who may use the hub. */
export function Tokens() {
  const hub = useHub();
  const may = hub.can("admin");
  const [tokens, setTokens] = useState<readonly Token[]>();
  const [error, setError] = useState<Error>();
  const dialog = useDialog();
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
  const revoke = async (token: Token) => {
    const run = () => hub.api.call("revoke-token", { params: { id: token.id } });
    if (await confirm({ title: t.revokeTitle(token.name), children: <p>{t.revokeText}</p>, action: t.revoke, danger: true, run }))
      await load();
  };
  return (
    <Section title={t.tokens}>
      {!may && (
        <p className={css.why}>
          {t.tokensNeedAdmin}
          {allScopes.filter((scope) => hub.can(scope)).join(", ")}
        </p>
      )}
      {may && (
        <>
          <p className={css.why}>{t.tokensWhy}</p>
          <ErrorNote error={error} onRetry={() => void load()} />
          {!tokens && !error && <Spinner label={texts.loading} />}
          <ul className={css.tokens}>
            {tokens?.map((token) => (
              <li key={token.id} className={css.token}>
                <KeyRound size={14} aria-hidden="true" />
                <span className={css.tokenName}>{token.name}</span>
                <Button size="s" variant="danger" onPress={() => void revoke(token)}>
                  {t.revoke}
                </Button>
                <TokenFacts token={token} />
              </li>
            ))}
          </ul>
          <div>
            <Button icon={<Plus size={16} />} onPress={dialog.open}>
              {t.newToken}
            </Button>
          </div>
          {dialog.isOpen && <NewToken onClose={dialog.close} onMade={() => void load()} />}
        </>
      )}
    </Section>
  );
}

function TokenFacts({ token }: { token: Token }) {
  const expired = token.expires !== undefined && Date.parse(token.expires) < Date.now();
  return (
    <span className={css.tokenFacts}>
      <span>{(token.scopes ?? []).join(", ")}</span>
      <span>
        {t.created} <Ago time={token.created} />
      </span>
      <span>
        {t.used} {token.used ? <Ago time={token.used} /> : t.never}
      </span>
      {token.expires &&
        (expired ? <Badge tone="warn">{t.expired}</Badge> : <span>{`${t.expires} ${formatMoment(token.expires)}`}</span>)}
    </span>
  );
}

function NewToken({ onClose, onMade }: { onClose(): void; onMade(): void }) {
  const hub = useHub();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["observe"]);
  const [made, setMade] = useState<CreatedToken>();
  const [error, setError] = useState<Error>();
  const [pending, setPending] = useState(false);
  const create = async () => {
    setPending(true);
    setError(undefined);
    try {
      setMade(await hub.api.call("create-token", { body: { name: name.trim(), scopes: [...scopes] } }));
      onMade();
    } catch (e) {
      setError(asError(e));
    } finally {
      setPending(false);
    }
  };
  return (
    <Dialog
      title={t.newToken}
      isOpen
      onClose={onClose}
      isDismissable={false}
      actions={
        made ? (
          <Button variant="primary" onPress={onClose}>
            {t.done}
          </Button>
        ) : (
          <Button
            variant="primary"
            isPending={pending}
            isDisabled={!name.trim() || scopes.length === 0}
            onPress={() => void create()}
          >
            {t.create}
          </Button>
        )
      }
    >
      {made ? (
        <Note tone="ok" title={t.tokenMade}>
          <div className={css.secret}>
            <code>{made.text}</code>
            <CopyButton text={made.text} />
          </div>
        </Note>
      ) : (
        <div className={css.form}>
          <TextInput label={t.tokenName} hint={t.tokenNameHint} value={name} onChange={setName} autoFocus />
          <ScopeBoxes label={t.tokenScopes} scopes={scopes} onChange={setScopes} />
          <ErrorNote error={error} />
        </div>
      )}
    </Dialog>
  );
}

function ScopeBoxes({
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

function asError(e: unknown): Error {
  return e instanceof Error ? e : new Error(String(e));
}
