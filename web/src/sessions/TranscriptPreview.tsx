import { useCallback } from "react";
import { useHub } from "../store/hub";
import { sessionsTexts } from "../texts/sessions";
import { Button } from "../ui/buttons";
import { ErrorNote } from "../ui/notes";
import { Spinner } from "../ui/signs";
import { type Page, usePages } from "./pages";
import css from "./TranscriptPreview.module.css";
import { type PreviewLine, previewLines } from "./transcript";

const t = sessionsTexts.adopt;
const pageSize = 100;

/** What was said in a conversation on disk. */
export function TranscriptPreview({ conversation, dir, node }: { conversation: string; dir?: string; node?: string }) {
  const { api } = useHub();
  const read = useCallback(
    async (cursor: string | undefined, signal: AbortSignal): Promise<Page<PreviewLine>> => {
      const from = cursor ? Number(cursor) : 0;
      const page = await api.call("get-transcript", {
        params: { conversation },
        query: { dir: dir || undefined, node: node || undefined, cursor: from || undefined, limit: pageSize },
        signal,
      });
      return { items: previewLines(page.lines ?? [], from), next: page.more && page.next ? String(page.next) : undefined };
    },
    [api, conversation, dir, node],
  );
  const lines = usePages(read);
  return (
    <section
      className={css.preview}
      aria-label={t.preview}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which must be possible with the keyboard
      tabIndex={0}
    >
      <ul className={css.lines}>
        {lines.items.map((line) => (
          <li key={line.key} className={css[line.who]}>
            {line.who !== "tool" && <span className={css.who}>{t[line.who]}</span>}
            <span className={css.text}>{line.text}</span>
          </li>
        ))}
      </ul>
      <ErrorNote error={lines.error} onRetry={lines.next} />
      {lines.loading && <Spinner />}
      {!lines.loading && !lines.error && lines.items.length === 0 && !lines.more && (
        <p className={css.none}>{t.previewNothing}</p>
      )}
      {!lines.loading && lines.more && (
        <Button size="s" onPress={lines.next}>
          {t.previewMore}
        </Button>
      )}
    </section>
  );
}
