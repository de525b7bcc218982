import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { uiTexts as t } from "../texts/ui";
import { IconButton } from "./buttons";
import css from "./CopyButton.module.css";
import { toast } from "./toast";

/** Copies a text, or says how else to if the browser does not allow it. Resolves to whether it did. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast({ title: t.copyFailed, tone: "warn" });
    return false;
  }
}

/** A button that copies a text, and shows for a moment that it did. A function is asked for the text when it is pressed. */
export function CopyButton({
  text,
  label = t.copy,
  size = "s",
  className,
}: {
  text: string | (() => string);
  label?: string;
  size?: "s" | "m";
  className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied(await copyText(typeof text === "string" ? text : text()));
  return (
    <IconButton
      icon={copied ? <Check size={14} /> : <Copy size={14} />}
      label={copied ? t.copied : label}
      size={size}
      className={className ?? ""}
      onPress={() => void copy()}
    />
  );
}

/** A text to be copied as it stands, such as a command, with the button that does it. With a name it is a part of the page of its own. */
export function CopyLine({ text, label, name }: { text: string; label?: string; name?: string }) {
  const Box = name === undefined ? "div" : "section";
  return (
    <Box className={css.line} aria-label={name}>
      <pre className={css.code}>{text}</pre>
      <CopyButton text={text} label={label} />
    </Box>
  );
}
