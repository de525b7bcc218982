import { FileText, Image, X } from "lucide-react";
import { composeTexts as t } from "../texts/compose";
import { IconButton } from "../ui";
import css from "./Attachments.module.css";
import type { Attachment } from "./attach";
import { useImageUrl } from "./useAttachments";

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
