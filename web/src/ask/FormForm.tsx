import { ExternalLink } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { at, num, str } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { Checkbox, Field, RadioGroup, Select, TextArea, TextInput } from "../ui/fields";
import { Note } from "../ui/notes";
import { visible } from "../ui/visible";
import { accept, cancel, decline } from "./answers";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraftOf } from "./drafts";
import { chosenOf, contentOf, type FieldProblem, type Filled, type FormField, formOf, presetOf } from "./form";
import { Fact, Facts } from "./parts";

/** What was filled in so far, by the names of the fields. */
function readFilled(stored: unknown): readonly [string, Filled][] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.flatMap((e: unknown): [string, Filled][] => {
    if (!Array.isArray(e) || typeof e[0] !== "string") return [];
    return typeof e[1] === "string" || e[1] === null ? [[e[0], e[1]]] : [];
  });
}

/** Something to be filled in, or a page to be visited, for an MCP server. */
export function FormForm() {
  const { question } = useCard();
  const form = formOf(question);
  return (
    <>
      <Facts question={question}>
        <Fact name={t.title} value={form.title === form.message ? "" : form.title} />
        <Fact name={t.purpose} value={form.description === form.message ? "" : form.description} />
      </Facts>
      {form.url === undefined ? <Fields fields={form.fields} /> : <Page url={form.url} />}
    </>
  );
}

/** The two ways to say no. */
function Refusals() {
  const { answer, off } = useCard();
  return (
    <>
      <span className={css.gap} />
      <Button kbd="n" onPress={() => answer(decline)} {...off}>
        {t.decline}
      </Button>
      <Button kbd="c" variant="quiet" onPress={() => answer(cancel)} {...off}>
        {t.cancelForm}
      </Button>
    </>
  );
}

/** The address of a page: whole, for whoever follows it must have seen where it leads. It is opened by a click and never by itself. */
function Page({ url }: { url: string }) {
  const { answer, sends, may } = useCard();
  useCardKeys({ y: may(() => answer(accept())), n: may(() => answer(decline)), c: may(() => answer(cancel)) });
  const safe = /^https?:\/\//i.test(url) && URL.canParse(url);
  return (
    <>
      <p>{t.page}</p>
      <p className={css.address}>
        <code>{visible(url)}</code>
      </p>
      {safe ? (
        <p>
          <a className={css.link} href={new URL(url).href} target="_blank" rel="noopener noreferrer">
            {t.openPage} <ExternalLink size={14} aria-hidden="true" />
          </a>
        </p>
      ) : (
        <Note tone="warn">{t.pageUnsafe}</Note>
      )}
      <div className={css.actions}>
        <Button variant="primary" kbd="y" onPress={() => answer(accept())} {...sends}>
          {t.visited}
        </Button>
        <Refusals />
      </div>
    </>
  );
}

function Fields({ fields }: { fields: readonly FormField[] }) {
  const { question, answer, sends, refused, complain, may } = useCard();
  const [draft, setDraft] = useDraftOf(question.id, "form", readFilled);
  const [problems, setProblems] = useState<ReadonlyMap<string, FieldProblem>>(new Map());
  const form = useRef<HTMLDivElement>(null);
  const filled: ReadonlyMap<string, Filled> = new Map(draft);
  useCardKeys({ n: may(() => answer(decline)), c: may(() => answer(cancel)) });

  const send = () => {
    if (refused) {
      complain(refused);
      return;
    }
    const result = contentOf(fields, filled);
    if ("content" in result) {
      answer(accept(result.content));
      return;
    }
    setProblems(result.problems);
    const first = fields.findIndex((f) => result.problems.has(f.name));
    form.current
      ?.querySelectorAll<HTMLElement>("[data-field]")
      [first]?.querySelector<HTMLElement>("input, textarea, button")
      ?.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.repeat) return;
    e.preventDefault();
    e.stopPropagation();
    send();
  };
  return (
    // No element that is a form: in one, enter sends what is filled in, and nobody may have meant that.
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div ref={form} role="group" aria-label={t.kind.form} className={css.entry} onKeyDown={onKeyDown}>
      {fields.length === 0 && <Note>{t.formEmpty}</Note>}
      {fields.map((field) => (
        <div key={field.name} data-field={field.name}>
          <OneField
            field={field}
            filled={filled.has(field.name) ? (filled.get(field.name) ?? null) : presetOf(field)}
            error={problemOf(problems.get(field.name))}
            onChange={(value) => {
              setDraft([...new Map(filled).set(field.name, value)]);
              setProblems((before) => new Map([...before].filter(([name]) => name !== field.name)));
            }}
          />
        </div>
      ))}
      <div className={css.actions}>
        <Button variant="primary" kbd="mod+enter" onPress={send} {...sends}>
          {t.accept}
        </Button>
        <Refusals />
      </div>
    </div>
  );
}

const problemOf = (problem: FieldProblem | undefined): string | undefined => problem && t.fieldProblem[problem];

interface FieldProps {
  field: FormField;
  filled: Filled;
  error: string | undefined;
  onChange(filled: Filled): void;
}

function OneField({ field, filled, error, onChange }: FieldProps) {
  const label = [
    visible(field.label),
    field.label.toLowerCase() === field.name.toLowerCase() ? "" : `(${visible(field.name)})`,
    field.required ? `(${t.required})` : "",
  ]
    .filter(Boolean)
    .join(" ");
  const hint = aboutField(field);
  const text = filled ?? "";
  switch (field.kind) {
    case "text":
      return num(field.schema, "maxLength") === undefined && str(field.schema, "format") === "" ? (
        <TextArea label={label} hint={hint} error={error} value={text} onChange={onChange} minRows={1} maxRows={8} />
      ) : (
        <TextInput label={label} hint={hint} error={error} value={text} onChange={onChange} />
      );
    case "number":
      // No input of type number: it would hide what it does not understand.
      return (
        <TextInput label={label} hint={hint} error={error} value={text} onChange={onChange} input={{ inputMode: "decimal" }} />
      );
    case "bool":
      return (
        <RadioGroup
          label={label}
          hint={hint}
          error={error}
          orientation="horizontal"
          value={text === "" ? "none" : text}
          onChange={(value) => onChange(value === "none" ? "" : value)}
          items={[
            { id: "true", label: t.yesValue },
            { id: "false", label: t.noValue },
            ...(field.required ? [] : [{ id: "none", label: t.notSaid }]),
          ]}
        />
      );
    case "one": {
      const items = field.options.map((o, i) => ({ id: String(i), label: visible(o.label) }));
      const all = field.required ? items : [...items, { id: "none", label: t.notSaid }];
      const choose = (value: string) => onChange(value === "none" ? "" : value);
      const value = text === "" ? (field.required ? null : "none") : text;
      return all.length <= 6 ? (
        <RadioGroup label={label} hint={hint} error={error} value={value} onChange={choose} items={all} />
      ) : (
        <Select label={label} hint={hint} error={error} value={value} onChange={choose} items={all} />
      );
    }
    case "several": {
      const chosen = chosenOf(filled);
      const toggle = (i: number, on: boolean) =>
        onChange(field.options.flatMap((_, j) => ((j === i ? on : chosen.includes(j)) ? [String(j)] : [])).join(","));
      return (
        <Field label={label} hint={hint} error={error}>
          {field.options.map((o, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: options never change their order
            <Checkbox key={i} isSelected={chosen.includes(i)} onChange={(on) => toggle(i, on)}>
              {visible(o.label)}
            </Checkbox>
          ))}
        </Field>
      );
    }
    case "json":
      return (
        <TextArea
          label={label}
          hint={hint}
          error={error}
          mono
          value={text}
          onChange={onChange}
          minRows={2}
          input={{ spellCheck: "false" }}
        />
      );
  }
}

/** Says what is to be filled in. */
function aboutField(field: FormField): string | undefined {
  const { schema } = field;
  const parts: string[] = [];
  const add = (value: number | undefined, say: (n: number) => string) => {
    if (value !== undefined) parts.push(say(value));
  };
  if (field.description) parts.push(visible(field.description));
  if (field.kind === "number") parts.push(at(schema, "type") === "integer" ? t.wholeNumber : t.anyNumber);
  if (field.kind === "json") parts.push(t.inJson);
  if (str(schema, "format")) parts.push(visible(str(schema, "format")));
  add(num(schema, "minimum"), t.atLeast);
  add(num(schema, "maximum"), t.atMost);
  if (field.kind === "text") {
    add(num(schema, "minLength") || undefined, t.atLeastCharacters);
    add(num(schema, "maxLength"), t.atMostCharacters);
  }
  if (field.kind === "several") {
    add(num(schema, "minItems") || undefined, t.atLeastItems);
    add(num(schema, "maxItems"), t.atMostItems);
  }
  return parts.length > 0 ? parts.join("; ") : undefined;
}
