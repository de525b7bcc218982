import { Component, type ReactNode } from "react";
import { uiTexts as t } from "../texts/ui";
import { Note } from "./Note";

interface Props {
  /** What is drawn: when it is another, it is tried again. */
  of: unknown;
  /** What can be done all the same. */
  hint?: string;
  children: ReactNode;
}

/** Keeps an error to one entry. What an agent wrote is in the session for good: if it could take the page along, no reload would help. */
export class Contained extends Component<Props, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate(before: Props) {
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
