import { ChevronDown, ChevronUp, Search, X } from "lucide-react";
import { type RefObject, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "../app/router";
import type { OpenSession } from "../store/hub";
import { useReadable } from "../store/readable";
import { conversationTexts as t } from "../texts/conversation";
import { IconButton } from "../ui/buttons";
import { TextInput } from "../ui/fields";
import styles from "./FindBar.module.css";
import { findItems } from "./found";
import { paintFound } from "./paint";

interface FindBarProps {
  session: OpenSession;
  /** Where the rows are, whose text is marked. */
  rows: RefObject<HTMLElement | null>;
  /** How often it was asked for: each time it takes the focus. */
  asked: number;
  /** Shows an item, also one of a sub-agent's, and where in it the text stands, which is in lower case. */
  onShow(id: string, text: string): void;
  onClose(): void;
}

/**
 * Finds a text in the conversation. The browser's own search sees only the rows that are on the screen, so this one looks
 * through the items; a second press of its keys leads to the browser's.
 */
export function FindBar({ session, rows, asked, onShow, onClose }: FindBarProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState<string>();
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const { ids, older } = useReadable(session.order);
  const input = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever asks again wants to type again
  useEffect(() => input.current?.select(), [asked]);

  const found = useMemo(() => findItems(session, ids, wanted), [session, ids, wanted]);

  useEffect(() => (rows.current && wanted !== "" ? paintFound(rows.current, wanted) : undefined), [rows, wanted]);

  const index = at === undefined ? -1 : found.indexOf(at);
  const step = (by: number) => {
    // Whoever types fast and presses enter is ahead of what is drawn.
    const current = text.trim().toLowerCase();
    const all = current === wanted ? found : findItems(session, ids, current);
    const here = at === undefined ? -1 : all.indexOf(at);
    // The newest first: that is where one is.
    const to = all[here < 0 ? all.length - 1 : (here + by + all.length) % all.length];
    if (to === undefined) return;
    setAt(to);
    onShow(to, current);
  };

  return (
    <search className={styles.bar}>
      <TextInput
        label={t.find}
        hideLabel
        placeholder={t.find}
        icon={<Search size={14} />}
        value={text}
        onChange={setText}
        inputRef={input}
        className={styles.input}
        input={{
          onKeyDown: (e) => {
            if (e.key === "Enter") step(e.shiftKey ? 1 : -1);
            else if (e.key === "Escape") onClose();
            else return;
            e.preventDefault();
            e.stopPropagation();
          },
        }}
      />
      <output className={styles.count}>
        {wanted === ""
          ? ""
          : found.length === 0
            ? t.findNone
            : index < 0
              ? String(found.length)
              : t.findCount(index + 1, found.length)}
      </output>
      <IconButton
        size="s"
        icon={<ChevronUp size={16} />}
        label={t.previous}
        isDisabled={found.length === 0}
        onPress={() => step(-1)}
      />
      <IconButton
        size="s"
        icon={<ChevronDown size={16} />}
        label={t.next}
        isDisabled={found.length === 0}
        onPress={() => step(1)}
      />
      {older || found.length === 0 ? (
        <Link className={styles.link} to={{ page: "search", q: text }} title={t.findLoaded}>
          {t.findEverywhere}
        </Link>
      ) : null}
      <IconButton size="s" icon={<X size={16} />} label={t.close} onPress={onClose} />
    </search>
  );
}
