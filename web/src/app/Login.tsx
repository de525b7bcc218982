import { type FormEvent, useState } from "react";
import { type ApiError, asApiError } from "../api/error";
import { loginBy } from "../api/login";
import type { TokenBox } from "../api/token";
import { coreTexts } from "../texts/core";
import { Button } from "../ui/buttons";
import { CopyButton } from "../ui/CopyButton";
import { TextInput } from "../ui/fields";
import { ErrorNote, Note } from "../ui/notes";
import { Spinner } from "../ui/signs";
import css from "./Login.module.css";

const t = coreTexts.login;

/** What is shown while a tab finds out whether it has a token. It stays empty at first: usually it is there for a moment only. */
export function Arriving() {
  return (
    <main className={css.page} aria-busy="true">
      <p className={css.arriving}>
        <Spinner />
        {t.asking}
      </p>
    </main>
  );
}

/** The page for those without a token. */
export function Login({ token, reason, error }: { token: TokenBox; reason?: string; error?: ApiError }) {
  const [pasted, setPasted] = useState("");
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiError | undefined>(error);

  const enter = async (e: FormEvent) => {
    e.preventDefault();
    setPending(true);
    setFailure(undefined);
    try {
      token.set(await loginBy(pasted));
    } catch (problem) {
      setFailure(asApiError(problem));
      setPending(false);
    }
  };

  return (
    <main className={css.page}>
      <div className={css.card}>
        <header className={css.header}>
          <img src="./icon.svg" alt="" className={css.mark} width={40} height={40} />
          <h1 className={css.title}>{t.title}</h1>
          <p className={css.lead}>{t.lead}</p>
        </header>
        {reason && !failure && <Note tone="warn">{reason}</Note>}
        <section className={css.section}>
          <p>{t.how}</p>
          <div className={css.command}>
            <code>{t.command}</code>
            <CopyButton text={t.command} label={t.copy} />
          </div>
          <p className={css.muted}>
            {t.why} {t.phone}
          </p>
        </section>
        <form className={css.form} onSubmit={(e) => void enter(e)}>
          <TextInput
            label={t.code}
            hint={isPrivate(window.location) ? t.codeHint : t.codeHintTab}
            value={pasted}
            onChange={setPasted}
            mono
            autoComplete="off"
            input={{ spellCheck: false, autoCapitalize: "off", autoCorrect: "off" }}
          />
          <ErrorNote error={failure} />
          <Button type="submit" variant="primary" isPending={pending} className={css.enter}>
            {pending ? t.entering : t.enter}
          </Button>
        </form>
      </div>
    </main>
  );
}

/** Whether the hub sets a cookie, by which the browser stays signed in: not on a connection that others in the network can read. */
function isPrivate({ protocol, hostname }: Location): boolean {
  return protocol === "https:" || hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
