import { Component, type ReactNode } from "react";
import { asError } from "../api/error";
import { appTexts as t } from "../texts/app";
import { Button } from "../ui/buttons";
import { EmptyState } from "../ui/notes";

/** Keeps an error of one page from taking the rest along. */
export class PageError extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error: asError(error) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <EmptyState title={t.pageFailed}>
        <code role="alert">{error.message}</code>
        <p>{t.pageFailedHint}</p>
        <Button variant="primary" onPress={() => location.reload()}>
          {t.reload}
        </Button>
      </EmptyState>
    );
  }
}
