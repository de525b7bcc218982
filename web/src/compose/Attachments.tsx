import { FileText, Image, X } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useReadable } from "../store/readable";
import { composeTexts as t } from "../texts/compose";
import { IconButton } from "../ui/buttons";
import css from "./Attachments.module.css";
import { type Attachment, attach, noRoom } from "./attach";
import { attached } from "./kept";

/** What goes along with the message that is being written. */
export function Attachments({ list, onRemove }: { list: readonly Attachment[]; onRemove: (id: string) => void }) {
  if (list.length === 0) return null;
  return (
    <ul className={css.list} aria-label={t.attachments}>
      {list.map((a) => (
        <li key={a.id} className={css.item}>
          <Thumb attachment={a} />
          <span className={css.name} title={a.name}>
            {a.name}
          </span>
          <span className={css.size}>{t.size(a.size)}</span>
          <IconButton size="s" icon={<X size={14} />} label={t.remove(a.name)} onPress={() => onRemove(a.id)} />
        </li>
      ))}
    </ul>
  );
}

function Thumb({ attachment }: { attachment: Attachment }) {
  const url = useImageUrl(attachment.image);
  if (url) return <img className={css.thumb} src={url} alt="" />;
  return attachment.mediaType.startsWith("image/") ? (
    <Image size={16} aria-hidden="true" />
  ) : (
    <FileText size={16} aria-hidden="true" />
  );
}

/** What is attached to the message that is being written, and what is being read. */
export function useAttachments(session: string) {
  const cell = attached(session);
  const list = useReadable(cell);
  const [reading, setReading] = useState(0);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const add = useCallback(
    async (files: readonly File[]) => {
      setProblems([]);
      setReading((n) => n + files.length);
      for (const file of files) {
        try {
          const another = await attach(file);
          const full = noRoom(cell.get(), another);
          if (full) throw new Error(full);
          cell.set([...cell.get(), another]);
        } catch (e) {
          const problem = e instanceof Error ? e.message : t.notText(file.name);
          setProblems((all) => (all.includes(problem) ? all : [...all, problem]));
        } finally {
          setReading((n) => n - 1);
        }
      }
    },
    [cell],
  );
  const remove = useCallback((id: string) => cell.set(cell.get().filter((a) => a.id !== id)), [cell]);
  /** Takes away what has gone along with a message; what was attached meanwhile stays. */
  const sent = useCallback(
    (gone: readonly Attachment[]) => {
      cell.set(cell.get().filter((a) => !gone.includes(a)));
      setProblems([]);
    },
    [cell],
  );
  return { list, reading: reading > 0, problems, add, remove, sent };
}

/**
 * Takes files that are dropped anywhere on the page, which the browser would open instead of the console. Whoever takes them before prevents
 * the default. Returns whether files hang over the page.
 */
export function useDrop(enabled: boolean, drop: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const current = useRef(drop);
  current.current = drop;
  useEffect(() => {
    const hasFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") ?? false;
    const onOver = (e: DragEvent) => {
      if (!hasFiles(e) || e.defaultPrevented) return;
      e.preventDefault();
      if (e.dataTransfer) e.dataTransfer.dropEffect = enabled ? "copy" : "none";
      setOver(enabled);
    };
    const onLeave = (e: DragEvent) => {
      if (e.relatedTarget === null) setOver(false);
    };
    const onDrop = (e: DragEvent) => {
      setOver(false);
      if (!hasFiles(e) || e.defaultPrevented) return;
      e.preventDefault();
      if (enabled) current.current([...(e.dataTransfer?.files ?? [])]);
    };
    document.addEventListener("dragover", onOver);
    document.addEventListener("dragleave", onLeave);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onOver);
      document.removeEventListener("dragleave", onLeave);
      document.removeEventListener("drop", onDrop);
    };
  }, [enabled]);
  return over;
}

/** The address under which the browser shows an image that it holds, as long as the component is there. */
function useImageUrl(image: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!image) return;
    const made = URL.createObjectURL(image);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  return image ? url : undefined;
}

/** What a paste brings as files: none if there is text as well, which is what people mean when they copy from a table or a page. */
export function pastedFiles(data: DataTransfer): readonly File[] {
  return data.getData("text/plain") === "" ? [...data.files] : [];
}
