import { ArrowUp, ChevronsUp, Paperclip, Square } from "lucide-react";
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Session } from "../api/types";
import { useCommands } from "../app/commands";
import { useKeys } from "../app/keys";
import { ModeChoice, ModelChoice, useMode } from "../steer/Choices";
import { useInterrupt } from "../steer/interrupt";
import { commandsOf, isWorking, takesRequests } from "../steer/told";
import { useSession } from "../steer/useSession";
import { type OpenSession, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { composeTexts as t } from "../texts/compose";
import { steerTexts } from "../texts/steer";
import { Button, IconButton } from "../ui/buttons";
import { classes } from "../ui/classes";
import { useCoarse } from "../ui/hooks";
import { ErrorNote } from "../ui/notes";
import { Attachments, pastedFiles, useAttachments, useDrop } from "./Attachments";
import { Completions, offerId } from "./Completions";
import css from "./Composer.module.css";
import { complete, isWhole, type Offer } from "./complete";
import { atEdge, createHistory } from "./history";
import { written } from "./kept";
import { ownCommands, runOwn } from "./own";
import { Queue } from "./Queue";
import { useCompletion } from "./useCompletion";
import { type SendMode, useSend } from "./useSend";

/** Where a person writes to the agent, with what waits to be told to it above. */
export function Composer({ session }: { session: OpenSession }) {
  // Another session is another composer: nothing of what was being done in one may go to the other.
  return <Writing key={session.id} session={session} />;
}

function Writing({ session }: { session: OpenSession }) {
  const hub = useHub();
  const snapshot = useSession(session);
  const { status } = useReadable(hub.link);
  const online = status !== "offline" && status !== "refused"; // in the first moment it is neither
  const coarse = useCoarse();
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const cell = written(session.id);
  const text = useReadable(cell);
  const [caret, setCaret] = useState(text.length);
  const [focused, setFocused] = useState(false);
  const files = useAttachments(session.id);
  const sending = useSend(session);
  const interrupt = useInterrupt(session);
  const mode = useMode(session);
  const recall = useRecall(session.id);
  const completion = useCompletion(session, snapshot, ownCommands, text, caret, focused);
  const listId = useId();
  const lastMode = useRef<SendMode>("queue");
  const [cycled, setCycled] = useState(false);

  const may = hub.can("prompt");
  const working = isWorking(snapshot?.state);
  const empty = text.trim() === "" && files.list.length === 0;
  const reason = !may ? t.mayNot : !online ? t.offline : undefined;
  const canSend = may && online && !empty && !files.reading && snapshot !== undefined;
  const canSteer = working && takesRequests(snapshot);
  const over = useDrop(may, (dropped) => void files.add(dropped));

  /** Puts a text into the field, and the cursor at a place of it. */
  const write = useCallback(
    (to: string, pos: number) => {
      cell.set(to);
      setCaret(pos);
      // After React has put the text there: the cursor would go to its end.
      requestAnimationFrame(() => field.current?.setSelectionRange(pos, pos));
    },
    [cell],
  );

  const submit = async (how: SendMode) => {
    if (!canSend || sending.pending) return;
    lastMode.current = how;
    if (files.list.length === 0 && runOwn(session, text, commandsOf(snapshot))) {
      write("", 0);
      return;
    }
    const sent = files.list;
    if (!(await sending.send(text, sent, how === "steer" && canSteer ? "steer" : "queue"))) return;
    recall.remember(text);
    // What was typed or attached while it was on its way stays.
    const now = cell.get();
    if (now.startsWith(text)) {
      const rest = now.slice(text.length).trimStart();
      write(rest, rest.length);
    }
    files.sent(sent);
  };

  const pick = (offer: Offer) => {
    if (!completion.word) return;
    const done = complete(text, caret, completion.word, offer);
    write(done.text, done.pos);
  };

  const onKeyDown = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(e) || !may) return;
    if (completion.open && completionKey(e)) return;
    const mod = e.metaKey || e.ctrlKey;
    if (e.key === "Enter" && (mod || !(e.shiftKey || e.altKey || coarse))) {
      e.preventDefault();
      // A key that is held down was pressed for something else, such as the choice that has led here.
      if (!e.repeat) void submit(mod ? "steer" : "queue");
    } else if (e.key === "Escape") {
      // It leaves the field, as in all others. A second one then interrupts the turn.
      e.preventDefault();
      if (e.repeat) return;
      field.current?.blur();
      if (working) interrupt.escape();
    } else if (e.code === "KeyM" && e.altKey && !mod && !e.shiftKey) {
      // Not shift+tab as in the CLI's own terminal: here it goes back to what is before, and whoever does that must not allow edits by it.
      e.preventDefault();
      if (e.repeat || !hub.can("approve") || !takesRequests(snapshot)) return;
      mode.cycle();
      setCycled(true);
    } else if ((e.key === "ArrowUp" || e.key === "ArrowDown") && !mod && !e.shiftKey && !e.altKey) {
      const way = e.key === "ArrowUp" ? "up" : "down";
      const { selectionStart, selectionEnd } = e.currentTarget;
      if (selectionStart !== selectionEnd || !atEdge(text, selectionStart, way)) return;
      const to = recall.go(way, text);
      if (to === undefined) return;
      e.preventDefault();
      // Up stays in the first line, so that another up goes on.
      const line = to.indexOf("\n");
      write(to, way === "up" && line >= 0 ? line : to.length);
    }
  };

  /** Does what a key means while completions are shown. Returns whether it means something. */
  const completionKey = (e: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const offer = completion.offers[completion.at];
    if (!offer || !completion.word || e.metaKey || e.ctrlKey || e.altKey) return false;
    switch (e.key) {
      case "ArrowUp":
        completion.move(-1);
        break;
      case "ArrowDown":
        completion.move(1);
        break;
      case "Escape":
        completion.dismiss();
        break;
      case "Tab":
        if (e.shiftKey) return false;
        pick(offer);
        break;
      case "Enter":
        if (e.shiftKey || isWhole(text, caret, completion.word, offer)) return false;
        pick(offer);
        break;
      default:
        return false;
    }
    e.preventDefault();
    return true;
  };

  const onPaste = (e: ClipboardEvent) => {
    const pasted = pastedFiles(e.clipboardData);
    if (pasted.length === 0 || !may) return;
    e.preventDefault();
    void files.add(pasted);
  };

  // What the field itself does, for the list of keys.
  useKeys(t.keys, [
    { keys: "enter", label: t.keySend, when: false, run: () => {} },
    { keys: "shift+enter", label: t.keyLine, when: false, run: () => {} },
    { keys: "mod+enter", label: t.keySteer, when: false, run: () => {} },
    { keys: "arrowup", label: t.keyHistory, when: false, run: () => {} },
    { keys: "alt+m", label: t.keyMode, when: false, run: () => {} },
    { keys: "escape escape", label: steerTexts.interrupt, when: false, run: () => {} },
  ]);
  useCommands(steerTexts.group, [
    ...(working && may ? [{ id: "session interrupt", label: steerTexts.interrupt, keys: "mod+.", run: interrupt.run }] : []),
    ...(may ? [{ id: "session write", label: steerTexts.writeKey, keys: "i", run: () => field.current?.focus() }] : []),
  ]);
  useKeys(steerTexts.group, [
    { keys: "i", label: steerTexts.writeKey, run: () => field.current?.focus() },
    { keys: "mod+.", label: steerTexts.interrupt, when: working && may, inField: true, run: interrupt.run },
    { keys: "escape", label: "", when: working && may, run: (e) => !e.repeat && interrupt.escape() },
  ]);
  useHeight(field, text);

  return (
    <div className={css.composer}>
      <Queue session={session} />
      <form
        className={classes(css.box, over && css.over, !may && css.closed)}
        aria-label={t.label}
        onSubmit={(e) => {
          e.preventDefault();
          void submit("queue");
        }}
      >
        {completion.open && <Completions id={listId} offers={completion.offers} at={completion.at} onPick={pick} />}
        <Attachments list={files.list} onRemove={files.remove} />
        <textarea
          ref={field}
          className={css.field}
          data-composer=""
          aria-label={t.label}
          placeholder={may ? placeholder(snapshot) : t.mayNot}
          value={text}
          rows={1}
          readOnly={!may}
          enterKeyHint={coarse ? "enter" : "send"}
          aria-autocomplete="list"
          {...(completion.open ? { "aria-controls": listId, "aria-activedescendant": offerId(listId, completion.at) } : {})}
          onChange={(e) => {
            cell.set(e.target.value);
            setCaret(e.target.selectionStart);
            recall.stop();
            sending.clear();
          }}
          onSelect={(e) => setCaret(e.currentTarget.selectionStart)}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className={css.bar}>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={(e) => {
              void files.add([...(e.target.files ?? [])]);
              e.target.value = "";
            }}
          />
          <IconButton
            size="s"
            icon={<Paperclip size={16} />}
            label={t.attach}
            isPending={files.reading}
            isDisabled={!may}
            reason={t.mayNot}
            onPress={() => picker.current?.click()}
          />
          <div className={css.choices}>
            <ModeChoice session={session} />
            <ModelChoice session={session} />
          </div>
          <div className={css.acts}>
            {working && (
              <Button
                size="s"
                icon={<Square size={12} />}
                aria-label={t.interrupt}
                className={css.interrupt}
                isPending={interrupt.pending}
                isDisabled={!may}
                reason={t.mayNot}
                onPress={interrupt.run}
              >
                <span className={css.word}>{t.interrupt}</span>
              </Button>
            )}
            {canSteer && !empty && (
              <Button
                size="s"
                icon={<ChevronsUp size={14} />}
                aria-label={t.steer}
                kbd="mod+enter"
                isDisabled={!canSend || sending.pending}
                reason={reason}
                onPress={() => void submit("steer")}
              >
                <span className={css.word}>{t.steer}</span>
              </Button>
            )}
            <Button
              size="s"
              variant="primary"
              type="submit"
              icon={<ArrowUp size={14} />}
              aria-label={sendLabel(snapshot, working)}
              isPending={sending.pending}
              isDisabled={!canSend}
              reason={reason}
            >
              <span className={css.word}>{sendLabel(snapshot, working)}</span>
            </Button>
          </div>
        </div>
        {over && (
          <div className={css.drop} aria-hidden="true">
            {t.dropHere}
          </div>
        )}
      </form>
      <div className={css.below} aria-live="polite">
        {interrupt.armed && <p>{t.interruptAgain}</p>}
        {cycled && <p className={css.unseen}>{steerTexts.modeIs(steerTexts.modeName(snapshot?.permission_mode ?? ""))}</p>}
        {completion.open && <p className={css.unseen}>{t.completionsCount(completion.offers.length)}</p>}
        {hint(snapshot, online) && <p>{hint(snapshot, online)}</p>}
        {files.problems.map((problem) => (
          <p key={problem} className={css.problem}>
            {problem}
          </p>
        ))}
      </div>
      <ErrorNote error={sending.error} onRetry={() => void submit(lastMode.current)} />
      <ErrorNote error={interrupt.error} />
    </div>
  );
}

/** Whether a key belongs to a word that is being composed. In Safari the one that ends it says so by its code only. */
function isComposing(e: KeyboardEvent): boolean {
  return e.nativeEvent.isComposing || e.keyCode === 229;
}

function sendLabel(session: Session | undefined, working: boolean): string {
  if (session?.state === "ended") return t.sendEnded;
  return working ? t.queue : t.send;
}

function placeholder(session: Session | undefined): string {
  if (session?.state === "ended") return t.placeholderEnded;
  return isWorking(session?.state) ? t.placeholderWorking : t.placeholder;
}

/** What somebody should know before sending; empty if it just goes to the agent. */
function hint(session: Session | undefined, online: boolean): string {
  if (!online) return t.offline;
  if (!session) return "";
  if (session.state === "ended" && session.options?.no_persistence) return t.notResumable;
  if (session.state !== "ended" && session.transport === "tee") return t.foreign;
  if ((session.holds?.length ?? 0) > 0) return t.heldBack;
  return session.state === "offline" ? t.agentOffline : "";
}

/** Goes through what was sent before, and back to what was being written. */
function useRecall(session: string) {
  const history = useMemo(() => createHistory(browserStorage()), []);
  const walk = useRef<{ list: readonly string[]; at: number; draft: string } | undefined>(undefined);
  return {
    remember: (text: string) => {
      history.add(session, text);
      walk.current = undefined;
    },
    stop: () => {
      walk.current = undefined;
    },
    /** The text to show; undefined if there is none that way. */
    go: (way: "up" | "down", now: string): string | undefined => {
      if (!walk.current) {
        if (way === "down") return undefined;
        walk.current = { list: history.of(session), at: -1, draft: now };
      }
      const { list, at, draft } = walk.current;
      const to = way === "up" ? at + 1 : at - 1;
      if (to >= list.length || to < -1) return undefined;
      walk.current = { list, at: to, draft };
      return to < 0 ? draft : list[to];
    },
  };
}

function browserStorage(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** Has a field grow with its text, up to what its style allows. */
function useHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what the height follows from
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.blockSize = "auto";
    element.style.blockSize = `${element.scrollHeight}px`;
  }, [field, text]);
}
