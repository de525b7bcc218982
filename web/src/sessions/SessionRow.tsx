import {
  Archive,
  ArchiveRestore,
  Check,
  Copy,
  EllipsisVertical,
  ListChecks,
  RotateCw,
  ShieldAlert,
  ShieldCheck,
  Square,
  SquareArrowOutUpRight,
} from "lucide-react";
import { memo } from "react";
import type { SessionSummary } from "../api/types";
import { href } from "../app/router";
import { MachineName } from "../machines/MachineName";
import { useHub } from "../store/hub";
import type { Mark } from "../store/seen";
import { sandboxTexts } from "../texts/sandbox";
import { sessionsTexts as t } from "../texts/sessions";
import { Button, MenuButton } from "../ui/buttons";
import { copyText } from "../ui/CopyButton";
import { Checkbox } from "../ui/fields";
import { withoutMarks } from "../ui/format";
import { Badge, StateDot } from "../ui/signs";
import { toast } from "../ui/toast";
import { Ago, Money } from "../ui/values";
import { visible } from "../ui/visible";
import { type Act, isAlive } from "./actions";
import { lastPart, shortModel, stateOf, titleOf } from "./list";
import css from "./SessionRow.module.css";

interface Props {
  session: SessionSummary;
  /** It is the one that is open beside the list. */
  current: boolean;
  /** The folder is left out: a heading above has it. */
  hideFolder?: boolean;
  /** What happened in it since somebody looked. */
  mark?: Mark;
  /** Whether it is chosen, while several are being chosen. */
  chosen?: boolean;
  onChoose(id: string, chosen: boolean): void;
  onAct(act: Act, session: SessionSummary): void;
  onSelect(id: string): void;
}

/** A session in the list. It is drawn again only when the session is another object. */
export const SessionRow = memo(function SessionRow({
  session,
  current,
  hideFolder,
  mark,
  chosen,
  onChoose,
  onAct,
  onSelect,
}: Props) {
  const hub = useHub();
  const title = titleOf(session);
  const selecting = chosen !== undefined;
  const state = stateOf(session);
  return (
    <div
      className={css.row}
      data-selecting={selecting || undefined}
      data-current={current || undefined}
      data-ended={(state === "ended" && !mark) || undefined}
      data-unread={mark !== undefined || undefined}
    >
      {selecting && (
        <Checkbox
          className={css.check}
          aria-label={t.bulk.choose(title)}
          isSelected={chosen}
          onChange={(isSelected) => onChoose(session.id, isSelected)}
        />
      )}
      <div className={css.main}>
        <div className={css.first}>
          <a
            className={css.title}
            href={href({ page: "session", id: session.id })}
            aria-current={current ? "page" : undefined}
            title={title}
            onClick={(e) => {
              if (!selecting || e.metaKey || e.ctrlKey || e.shiftKey) return;
              e.preventDefault();
              onChoose(session.id, !chosen);
            }}
          >
            {title}
          </a>
          {mark && (
            <span className={css.mark} title={t.marks[mark]}>
              <span className={css.unseen}>{t.marks[mark]}</span>
            </span>
          )}
          {session.questions > 0 && (
            <Badge tone="warn" title={t.asks(session.questions)}>
              <span aria-hidden="true">{session.questions}</span>
              <span className={css.unseen}>{t.asks(session.questions)}</span>
            </Badge>
          )}
          <Ago time={session.updated} className={css.ago} />
        </div>
        {session.text && (
          <p className={css.said}>
            <span className={css.unseen}>{t.said} </span>
            {visible(withoutMarks(session.text))}
          </p>
        )}
        <div className={css.second}>
          {mark === "finished" ? (
            <span className={css.finished}>
              <Check size={12} aria-hidden="true" />
              {t.finished}
            </span>
          ) : (
            <StateDot state={state} word />
          )}
          {session.unauthenticated && <Badge title={t.unauthenticatedHint}>{t.unauthenticated}</Badge>}
          <SandboxMark sandbox={session.sandbox} />
          {/* A heading that names the folder names the machine, too. */}
          {!hideFolder && <MachineName node={session.node} className={css.machine} />}
          {!hideFolder && (
            <span className={css.folder} title={session.dir}>
              {session.dir ? visible(lastPart(session.dir)) : t.noFolder}
            </span>
          )}
          {session.relay && <Badge title={t.relayHint(session.relay)}>{t.relay}</Badge>}
          {session.model && <span className={css.model}>{shortModel(session.model)}</span>}
          {state === "failed" && !selecting && (
            <Button
              className={css.retry}
              size="s"
              icon={<RotateCw size={12} />}
              aria-label={t.actions.retryOf(title)}
              isDisabled={!hub.can("prompt")}
              reason={t.scopes.prompt}
              onPress={() => onAct("retry", session)}
            >
              {t.actions.retry}
            </Button>
          )}
          {session.usd > 0 && <Money usd={session.usd} className={css.cost} />}
        </div>
      </div>
      {!selecting && (
        <MenuButton
          className={css.menu}
          label={t.actions.more(title)}
          size="s"
          icon={<EllipsisVertical size={16} />}
          items={[
            {
              id: "tab",
              label: t.actions.newTab,
              icon: <SquareArrowOutUpRight size={16} />,
              run: () => window.open(href({ page: "session", id: session.id }), "_blank", "noopener"),
            },
            {
              id: "copy",
              label: t.actions.copyId,
              icon: <Copy size={16} />,
              run: () => void copyText(session.id).then((done) => done && toast({ title: t.actions.copied, tone: "ok" })),
            },
            ...(session.failed
              ? [
                  {
                    id: "retry",
                    label: t.actions.retry,
                    icon: <RotateCw size={16} />,
                    isDisabled: !hub.can("prompt"),
                    hint: hub.can("prompt") ? t.failedWhy : t.scopes.prompt,
                    run: () => onAct("retry", session),
                  },
                ]
              : []),
            { id: "select", label: t.actions.select, icon: <ListChecks size={16} />, run: () => onSelect(session.id) },
            null,
            {
              id: "archive",
              label: session.archived ? t.actions.unarchive : t.actions.archive,
              icon: session.archived ? <ArchiveRestore size={16} /> : <Archive size={16} />,
              isDisabled: !hub.can("prompt"),
              hint: hub.can("prompt") ? undefined : t.scopes.prompt,
              run: () => onAct(session.archived ? "unarchive" : "archive", session),
            },
            {
              id: "stop",
              label: t.actions.stop,
              icon: <Square size={16} />,
              danger: true,
              isDisabled: !isAlive(session) || !hub.can("admin"),
              hint: hub.can("admin") ? undefined : t.scopes.admin,
              run: () => onAct("stop", session),
            },
          ]}
        />
      )}
    </div>
  );
});

/** What is to be known of a sandbox without opening the session: that it holds back most, or nothing although it should. */
function SandboxMark({ sandbox }: { sandbox: string | undefined }) {
  if (sandbox === "none")
    return (
      <Badge tone="danger" title={sandboxTexts.listNoneHint}>
        <ShieldAlert size={12} aria-hidden="true" />
        <span className={css.unseen}>{sandboxTexts.label} </span>
        {sandboxTexts.listNone}
      </Badge>
    );
  if (sandbox !== "strict") return null;
  return (
    <Badge title={sandboxTexts.listStrictHint}>
      <ShieldCheck size={12} aria-hidden="true" />
      <span className={css.unseen}>{sandboxTexts.label} </span>
      {sandboxTexts.listStrict}
    </Badge>
  );
}
