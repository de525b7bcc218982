import { useState } from "react";
import { clip, type JsonObject } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { ColouredLine } from "../ui/code/Code";
import { useColoured } from "../ui/code/highlight";
import { safeHref } from "../ui/markdown/link";
import { visible } from "../ui/visible";
import { JsonTree } from "./JsonTree";
import css from "./Parts.module.css";
import { Scroller } from "./Scroller";

/** A path, whole: it may be what somebody decides by. */
export function WholePath({ path }: { path: string }) {
  return (
    <code className={css.path} translate="no">
      {visible(path)}
    </code>
  );
}

/** A text as it is, whole but for those of a length that would hang the page; they are shown whole on demand. */
export function Long({ text, className }: { text: string; className?: string }) {
  const [whole, setWhole] = useState(false);
  const part = whole ? { text, left: 0 } : clip(text);
  return (
    <Scroller className={classes(css.long, className)} label={t.text}>
      <pre className={css.pre} translate="no">
        {visible(part.text)}
      </pre>
      {part.left > 0 && (
        <Button variant="quiet" size="s" onPress={() => setWhole(true)}>
          {t.moreCharacters(part.left)}
        </Button>
      )}
    </Scroller>
  );
}

/** A command of a shell, whole, in colours. */
export function Command({ text, lang = "bash", prompt = "$" }: { text: string; lang?: string; prompt?: string }) {
  const [whole, setWhole] = useState(false);
  const part = whole ? { text, left: 0 } : clip(text);
  const shown = visible(part.text);
  const lines = useColoured(shown, lang);
  return (
    <Scroller className={css.command} label={t.command}>
      <span className={css.prompt} aria-hidden="true">
        {prompt}
      </span>
      <pre className={css.pre} translate="no">
        {lines
          ? lines.map((line, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name than their place
              <span key={i}>
                {i > 0 && "\n"}
                <ColouredLine line={line} />
              </span>
            ))
          : shown}
      </pre>
      {part.left > 0 && (
        <Button variant="quiet" size="s" onPress={() => setWhole(true)}>
          {t.moreCharacters(part.left)}
        </Button>
      )}
    </Scroller>
  );
}

/** How many members of an input are drawn before somebody asks for more. */
export const mostMembers = 100;

/** The members of an input, by name, without those that are shown elsewhere. */
export function Members(props: { input: JsonObject; except?: readonly string[]; compact?: boolean }) {
  const { input, except = [], compact } = props;
  const [most, setMost] = useState(mostMembers);
  const rest = Object.entries(input).filter(([name]) => !except.includes(name));
  if (rest.length === 0) return null;
  const shown = rest.slice(0, most);
  const small = compact && shown.every(([, value]) => isShort(value));
  return (
    <>
      <dl className={small ? css.few : css.members}>
        {shown.map(([name, value]) => (
          <div key={name} className={css.member}>
            <dt>{visible(name)}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
      {rest.length > most && (
        <Button variant="quiet" size="s" onPress={() => setMost(most + mostMembers * 5)}>
          {t.moreMembers(rest.length - most)}
        </Button>
      )}
    </>
  );
}

function isShort(value: unknown): boolean {
  return typeof value === "string" ? value.length <= 60 && !value.includes("\n") : typeof value !== "object";
}

function Value({ value }: { value: unknown }) {
  if (typeof value === "string") {
    if (value.length > 200 || value.includes("\n")) return <Long text={value} />;
    return <code className={css.value}>{visible(value) || '""'}</code>;
  }
  if (typeof value === "object" && value !== null) return <JsonTree value={value} />;
  return <code className={css.value}>{String(value)}</code>;
}

/** A link to a page, if it is one that may be followed; else its address as text. */
export function SafeLink({ href, children }: { href: string; children?: string }) {
  const safe = safeHref(href);
  const words = visible(children || href);
  if (!safe) return <span className={css.address}>{words}</span>;
  return (
    <a className={css.address} href={safe} target="_blank" rel="noopener noreferrer" title={visible(href)}>
      {words}
    </a>
  );
}

/** A sentence beside what a tool shows. */
export function Remark({ children, tone }: { children: string; tone?: "bad" | "warn" }) {
  return <p className={classes(css.remark, tone === "bad" && css.bad, tone === "warn" && css.warn)}>{visible(children)}</p>;
}
