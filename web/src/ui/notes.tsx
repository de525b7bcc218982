import { TriangleAlert } from "lucide-react";
import { Component, type ReactNode } from "react";
import { ApiError, asError } from "../api/error";
import { uiTexts as t } from "../texts/ui";
import { Button } from "./buttons";
import { classes } from "./classes";
import { sentence } from "./format";
import css from "./notes.module.css";
import type { Tone } from "./signs";

/** A boxed remark: a warning before something is done, a fact that explains what is seen. */
export function Note({
  tone = "neutral",
  icon,
  title,
  className,
  children,
}: {
  tone?: Tone;
  icon?: ReactNode;
  title?: ReactNode;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <div className={classes(css.note, css[tone], className)}>
      {icon}
      <div className={css.body}>
        {title && <p className={css.title}>{title}</p>}
        {children}
      </div>
    </div>
  );
}

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

/** What a list shows when nothing is in it: what would be here, and what to do. */
export function EmptyState({
  icon,
  title,
  className,
  children,
}: {
  icon?: ReactNode;
  title: string;
  className?: string;
  children?: ReactNode;
}) {
  return (
    <div className={classes(css.empty, className)}>
      {icon && (
        <span className={css.emptyIcon} aria-hidden="true">
          {icon}
        </span>
      )}
      <h2 className={css.emptyTitle}>{title}</h2>
      {children && <div className={css.emptyBody}>{children}</div>}
    </div>
  );
}

interface ContainedProps {
  /** What is drawn: when it is another, it is tried again. */
  of: unknown;
  /** What can be done all the same. */
  hint?: string;
  children: ReactNode;
}

/** Keeps an error to one entry. What an agent wrote is in the session for good: if it could take the page along, no reload would help. */
export class Contained extends Component<ContainedProps, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error: asError(error) };
  }

  override componentDidUpdate(before: ContainedProps) {
    if (this.state.error && before.of !== this.props.of) this.setState({ error: undefined });
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Note tone="danger" title={t.notDrawn}>
        <p>{this.props.hint}</p>
        <code>{error.message.slice(0, 300)}</code>
      </Note>
    );
  }
}
