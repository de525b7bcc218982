import { FolderInput, Inbox, MessageCircleQuestion, Play, Plus, SquarePen, TableOfContents, Terminal } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { ApiError, asApiError } from "../api/error";
import { go, href } from "../app/router";
import { useHub } from "../store/hub";
import { useClientIds } from "../store/intent";
import { useReadable } from "../store/readable";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { ErrorNote } from "../ui/notes";
import { Kbd } from "../ui/signs";
import { openAdopt, openNewSession } from "./dialogs";
import { type Example, exampleFolder, examples } from "./examples";
import { countStates } from "./list";
import css from "./WelcomePage.module.css";

const t = sessionsTexts.welcome;

/** What the main pane shows while no session is chosen: what this is, and what to do first. */
export function WelcomePage() {
  const hub = useHub();
  const info = useReadable(hub.info);
  const { byId } = useReadable(hub.sessions);
  const questions = useReadable(hub.questions);
  const counts = useMemo(() => countStates(byId.values()), [byId]);
  const open = questions.list.filter((q) => q.state === "open").length;
  const admin = hub.can("admin");
  return (
    <div className={css.page}>
      <div className={css.inner}>
        <header className={css.top}>
          <h1 className={css.heading}>{t.title}</h1>
          <p className={css.intro}>{info?.simulated ? t.introSimulated : t.intro}</p>
        </header>
        {byId.size > 0 && (
          <section aria-label={t.now}>
            <ul className={css.now}>
              <li>
                <a className={css.fact} data-warn={open > 0 || undefined} href={href({ page: "inbox" })}>
                  <strong>{open}</strong> {t.waiting(open)}
                </a>
              </li>
              {counts.failed > 0 && (
                <li className={css.fact}>
                  <strong>{counts.failed}</strong> {t.failed(counts.failed)}
                </li>
              )}
              {counts.working > 0 && (
                <li className={css.fact}>
                  <strong>{counts.working}</strong> {t.working(counts.working)}
                </li>
              )}
              {counts.idle > 0 && (
                <li className={css.fact}>
                  <strong>{counts.idle}</strong> {t.idle(counts.idle)}
                </li>
              )}
            </ul>
          </section>
        )}
        {info?.simulated && admin && <Examples known={byId.values().next().value?.dir} />}
        <section>
          <h2 className={css.section}>{t.try}</h2>
          <ul className={css.cards}>
            <Card icon={<Plus size={18} />} title={t.tryNew} text={t.tryNewText}>
              <Button
                variant={info?.simulated ? "plain" : "primary"}
                kbd="n"
                isDisabled={!admin}
                reason={sessionsTexts.scopes.admin}
                onPress={() => openNewSession()}
              >
                {sessionsTexts.create.button}
              </Button>
            </Card>
            <Card icon={<Inbox size={18} />} title={t.tryInbox} text={t.tryInboxText}>
              <Button onPress={() => go({ page: "inbox" })}>{t.openInbox}</Button>
            </Card>
            <Card icon={<FolderInput size={18} />} title={t.tryAdopt} text={t.tryAdoptText}>
              <Button isDisabled={!admin} reason={sessionsTexts.scopes.admin} onPress={openAdopt}>
                {sessionsTexts.adopt.button}
              </Button>
            </Card>
          </ul>
        </section>
        <p className={css.keys}>
          <Kbd keys="?" /> {t.keysHelp} <Kbd keys="mod+k" /> {t.keysPalette}
        </p>
      </div>
    </div>
  );
}

function Card({ icon, title, text, children }: { icon: ReactNode; title: string; text: string; children: ReactNode }) {
  return (
    <li className={css.card}>
      <span className={css.icon} aria-hidden="true">
        {icon}
      </span>
      <h3>{title}</h3>
      <p className={css.text}>{text}</p>
      <div className={css.act}>{children}</div>
    </li>
  );
}

const icons: { [K in Example["id"]]: ReactNode } = {
  demo: <Play size={16} />,
  permission: <Terminal size={16} />,
  edit: <SquarePen size={16} />,
  plan: <TableOfContents size={16} />,
  choice: <MessageCircleQuestion size={16} />,
};

/** Buttons that start simulated agents, each of which shows one thing. */
function Examples({ known }: { known: string | undefined }) {
  const { api } = useHub();
  const [pending, setPending] = useState<Example["id"]>();
  const [error, setError] = useState<ApiError>();
  const clientIds = useClientIds();
  const start = async (example: Example): Promise<void> => {
    if (pending) return;
    setPending(example.id);
    setError(undefined);
    try {
      const dir = await exampleFolder(api, known);
      if (!dir) throw new ApiError({ status: 404, code: "not_found", title: t.noFolder });
      const request = {
        dir,
        title: example.name,
        prompt: example.prompt,
        options: { permission_mode: example.mode ?? "default" },
      };
      const session = await api.call("create-session", { body: { ...request, client_id: clientIds.of(request) } });
      go({ page: "session", id: session.id });
    } catch (e) {
      setError(asApiError(e));
      setPending(undefined);
    }
  };
  return (
    <section>
      <h2 className={css.section}>{t.examples}</h2>
      <p className={css.text}>{t.examplesText}</p>
      <ul className={css.examples}>
        {examples.map((example) => (
          <li key={example.id} className={css.example} data-first={example.id === "demo" || undefined}>
            <Button
              variant={example.id === "demo" ? "primary" : "plain"}
              icon={icons[example.id]}
              isPending={pending === example.id}
              isDisabled={pending !== undefined && pending !== example.id}
              aria-describedby={`example-${example.id}`}
              onPress={() => void start(example)}
            >
              {example.title}
            </Button>
            <p id={`example-${example.id}`} className={css.text}>
              {example.text}
            </p>
          </li>
        ))}
      </ul>
      <ErrorNote error={error} />
    </section>
  );
}
