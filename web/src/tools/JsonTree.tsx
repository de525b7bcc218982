import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { isObject } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { visible } from "../ui/visible";
import css from "./JsonTree.module.css";

const mostMembers = 100;
const mostText = 2_000;

/** JSON that can be unfolded. Only what is open is drawn, and of that only so much at a time. */
export function JsonTree({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (!isBranch(value)) return <Leaf value={value} />;
  return (
    <ul className={css.tree}>
      <Members value={value} depth={depth} />
    </ul>
  );
}

function isBranch(value: unknown): value is readonly unknown[] | Readonly<Record<string, unknown>> {
  return Array.isArray(value) || isObject(value);
}

function Members({ value, depth }: { value: readonly unknown[] | Readonly<Record<string, unknown>>; depth: number }) {
  const [most, setMost] = useState(mostMembers);
  const entries = Object.entries(value);
  if (entries.length === 0) return <li className={css.none}>{Array.isArray(value) ? "[]" : "{}"}</li>;
  return (
    <>
      {entries.slice(0, most).map(([name, member]) => (
        <li key={name}>
          {isBranch(member) ? <Branch name={name} value={member} depth={depth} /> : <NamedLeaf name={name} value={member} />}
        </li>
      ))}
      {entries.length > most && (
        <li>
          <Button variant="quiet" size="s" onPress={() => setMost((n) => n + mostMembers * 5)}>
            {t.moreMembers(entries.length - most)}
          </Button>
        </li>
      )}
    </>
  );
}

function NamedLeaf({ name, value }: { name: string; value: unknown }) {
  return (
    <div className={css.member}>
      <span className={css.name}>{visible(name)}</span>
      <Leaf value={value} />
    </div>
  );
}

function Branch({
  name,
  value,
  depth,
}: {
  name: string;
  value: readonly unknown[] | Readonly<Record<string, unknown>>;
  depth: number;
}) {
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const [open, setOpen] = useState(depth < 2 && size <= 20);
  return (
    <>
      <AriaButton className={css.branch} aria-expanded={open} onPress={() => setOpen(!open)}>
        <ChevronRight className={classes(css.arrow, open && css.turned)} size={14} aria-hidden="true" />
        <span className={css.name}>{visible(name)}</span>
        <span className={css.size}>{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
      </AriaButton>
      {open && (
        <ul className={css.tree}>
          <Members value={value} depth={depth + 1} />
        </ul>
      )}
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [whole, setWhole] = useState(false);
  if (typeof value !== "string") return <code className={css.other}>{String(value)}</code>;
  const left = whole ? 0 : value.length - mostText;
  return (
    <code className={css.text}>
      {visible(left > 0 ? value.slice(0, mostText) : value) || '""'}
      {left > 0 && (
        <Button variant="quiet" size="s" onPress={() => setWhole(true)}>
          {t.moreCharacters(left)}
        </Button>
      )}
    </code>
  );
}
