import { ImagePlus, X } from "lucide-react";
import { type ChangeEvent, type ClipboardEvent, useRef, useState } from "react";
import { askTexts as t } from "../texts/ask";
import { Button, IconButton, Note } from "../ui";
import { visible } from "../ui/diff";
import { useCard } from "./card";
import { useDraft } from "./drafts";
import { isImage, readImage } from "./images";
import look from "./Plan.module.css";
import { type ImageBlock, revise } from "./plan";
import { Reason } from "./Reason";

/** An image that goes along with what is said about a plan. */
export interface Attached {
  readonly id: string;
  readonly name: string;
  readonly block: ImageBlock;
}

interface Props {
  /** Whether there are edits of the plan, which do not go along. */
  edited: boolean;
  /** The images so far, which outlive a look at the plan. */
  images: readonly Attached[];
  onImages(change: (before: readonly Attached[]) => readonly Attached[]): void;
  onBack(): void;
}

/** What a plan lacks, in words and images. */
export function FeedbackForm({ edited, images, onImages: setImages, onBack }: Props) {
  const { question, answer } = useCard();
  const [text, setText] = useDraft(question.id, "feedback");
  const [error, setError] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);

  const add = async (files: readonly File[]) => {
    setError(undefined);
    for (const file of files) {
      const read = await readImage(file);
      if ("error" in read) setError(read.error);
      else setImages((before) => [...before, { id: crypto.randomUUID(), name: file.name, block: read.block }]);
    }
  };
  const onPaste = (e: ClipboardEvent) => {
    const files = [...e.clipboardData.files].filter(isImage);
    if (files.length === 0) return;
    e.preventDefault();
    void add(files);
  };
  const onPick = (e: ChangeEvent<HTMLInputElement>) => {
    const files = [...(e.target.files ?? [])];
    e.target.value = ""; // so that the same one can be taken again
    void add(files);
  };
  const submit = () => {
    const said = revise(
      text,
      images.map((i) => i.block),
    );
    if (said) answer(said);
    else setError(t.reviseNothing);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: images can be pasted into the field within, and chosen with the button
    <div
      onPaste={onPaste}
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        void add([...e.dataTransfer.files]);
      }}
    >
      <Reason
        title={t.reviseLabel}
        placeholder={t.revisePlaceholder}
        value={text}
        onChange={setText}
        action={t.reviseNow}
        error={error}
        onSubmit={submit}
        onBack={onBack}
      >
        {edited && <Note tone="warn">{t.planEditsStay}</Note>}
        {images.length > 0 && (
          <ul className={look.images}>
            {images.map((i) => (
              <li key={i.id}>
                <img src={`data:${i.block.source.media_type};base64,${i.block.source.data}`} alt={visible(i.name)} />
                <IconButton
                  size="s"
                  icon={<X size={14} />}
                  label={t.removeImage(visible(i.name))}
                  onPress={() => setImages((before) => before.filter((other) => other.id !== i.id))}
                />
              </li>
            ))}
          </ul>
        )}
        <div>
          <input ref={picker} type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple hidden onChange={onPick} />
          <Button size="s" variant="quiet" icon={<ImagePlus size={14} />} onPress={() => picker.current?.click()}>
            {t.addImage}
          </Button>
        </div>
      </Reason>
    </div>
  );
}
