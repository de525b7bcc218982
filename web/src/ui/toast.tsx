import { CircleCheck, Info, TriangleAlert, X } from "lucide-react";
import {
  UNSTABLE_Toast as AriaToast,
  Text,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";
import { ApiError } from "../api/error";
import { uiTexts as t } from "../texts/ui";
import { Button, IconButton } from "./buttons";
import { classes } from "./classes";
import type { Tone } from "./signs";
import css from "./toast.module.css";

export interface ToastMessage {
  title: string;
  text?: string;
  tone?: Tone;
  action?: { label: string; run: () => void };
}

// Those that ask for nothing go by themselves; five seconds are enough to read a line.
const staysFor = 5000;
const queue = new ToastQueue<ToastMessage>({ maxVisibleToasts: 3 });

/** Shows a message at the edge of the page. Failures and those with an action stay until they are dismissed. Returns what takes it back. */
export function toast(message: ToastMessage): () => void {
  const stays = message.action !== undefined || message.tone === "danger";
  const key = queue.add(message, stays ? {} : { timeout: staysFor });
  return () => queue.close(key);
}

/** Shows an error as a message: for actions without a place of their own on the page. */
export function toastError(error: unknown): void {
  const text = error instanceof ApiError ? [error.detail, error.hint].filter(Boolean).join(" ") : "";
  toast({ title: error instanceof Error ? error.message : t.failed, tone: "danger", ...(text ? { text } : {}) });
}

const icons = { neutral: Info, accent: Info, ok: CircleCheck, warn: TriangleAlert, danger: TriangleAlert };

/** Where toast() shows its messages: once, in the shell. */
export function Toasts() {
  return (
    <ToastRegion queue={queue} className={css.region ?? ""} aria-label={t.notifications}>
      {({ toast: shown }) => {
        const { title, text, tone = "neutral", action } = shown.content;
        const Icon = icons[tone];
        return (
          <AriaToast toast={shown} className={classes(css.toast, css[tone])}>
            <Icon size={16} aria-hidden="true" />
            <ToastContent className={css.content ?? ""}>
              <Text slot="title" className={css.title}>
                {title}
              </Text>
              {text && <Text slot="description">{text}</Text>}
            </ToastContent>
            {action && (
              <Button
                size="s"
                onPress={() => {
                  action.run();
                  queue.close(shown.key);
                }}
              >
                {action.label}
              </Button>
            )}
            <IconButton slot="close" size="s" icon={<X size={14} />} label={t.dismiss} />
          </AriaToast>
        );
      }}
    </ToastRegion>
  );
}
