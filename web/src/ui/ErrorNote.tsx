import { TriangleAlert } from "lucide-react";
import { ApiError } from "../api/error";
import { uiTexts as t } from "../texts/ui";
import { Button } from "./Button";
import { classes } from "./classes";
import { sentence } from "./format";
import css from "./Note.module.css";

/** What went wrong and what to do, where it happened. Nothing without an error. */
export function ErrorNote({ error, onRetry, className }: { error: Error | undefined; onRetry?: () => void; className?: string }) {
  if (!error) return null;
  const more = error instanceof ApiError ? [error.detail, error.hint].filter(Boolean) : [];
  return (
    <div className={classes(css.note, css.danger, className)} role="alert">
      <TriangleAlert size={16} aria-hidden="true" />
      <div className={css.body}>
        <p className={css.title}>{sentence(error.message || t.failed)}</p>
        {more.map((line) => (
          <p key={line}>{sentence(line ?? "")}</p>
        ))}
      </div>
      {onRetry && (
        <Button size="s" onPress={onRetry}>
          {t.tryAgain}
        </Button>
      )}
    </div>
  );
}
