import { useRef, useState } from "react";
import type { Json } from "../api/types";
import { at, isObject, str } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui/buttons";
import { TextArea } from "../ui/fields";
import { Note } from "../ui/notes";
import { visible } from "../ui/visible";
import { cancel, chooseResult } from "./answers";
import css from "./Card.module.css";
import { useCard, useCardKeys } from "./card";
import { useDraft } from "./drafts";
import { parseJson, problemText } from "./exact";
import { Facts, RevealedJson } from "./parts";
import { requestOf } from "./request";

/** What a dialog seems to offer: the values in the lists of its payload, the first nine of them. Only the CLI knows what it wants. */
export function offered(payload: Json | undefined): readonly Json[] {
  if (!isObject(payload)) return [];
  const lists = Object.keys(payload)
    .sort()
    .map((name) => payload[name]);
  return lists.flatMap((list) => (Array.isArray(list) ? list : [])).slice(0, 9);
}

/** The result that somebody has written, or what is wrong with it. */
export function readResult(text: string): { result: Json } | { error: string } {
  if (text.trim() === "") return { error: t.dialogEmpty };
  const parsed = parseJson(text);
  if ("value" in parsed) return { result: parsed.value };
  return { error: parsed.problem === "syntax" ? t.dialogNotJson : problemText(parsed) };
}

/** A dialog of the CLI's own. */
export function DialogForm() {
  const { question, answer, off, sends, may } = useCard();
  const request = requestOf(question);
  const kind = str(request, "dialog_kind");
  const payload = kind === "" ? undefined : at(request, "payload");
  const values = offered(payload);
  const [text, setText] = useDraft(question.id, "dialog");
  const [error, setError] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);

  const take = (value: Json) => {
    setText(JSON.stringify(value));
    setError(undefined);
    field.current?.focus();
  };
  const send = () => {
    const read = readResult(text);
    if ("error" in read) setError(read.error);
    else answer(chooseResult(read.result));
  };
  useCardKeys({
    ...Object.fromEntries(values.map((value, i) => [String(i + 1), () => take(value)])),
    w: () => field.current?.focus(),
    c: may(() => answer(cancel)),
  });
  return (
    <>
      <Facts question={question} />
      <RevealedJson value={payload ?? question.request} />
      {values.length > 0 && (
        <>
          <p>{t.dialogOptions}</p>
          <ul className={css.values}>
            {values.map((value, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: what is offered never changes its order
              <li key={i}>
                <Button kbd={String(i + 1)} onPress={() => take(value)} className={css.value}>
                  {visible(JSON.stringify(value)).slice(0, 1000)}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
      <TextArea
        label={t.dialogResult}
        hint={t.dialogHint}
        error={error}
        mono
        value={text}
        inputRef={field}
        onChange={(value) => {
          setText(value);
          setError(undefined);
        }}
        minRows={1}
        input={{ spellCheck: "false", autoCapitalize: "off", autoCorrect: "off" }}
      />
      <div className={css.actions}>
        <Button variant="primary" onPress={send} {...sends}>
          {t.dialogSend}
        </Button>
        <span className={css.gap} />
        <Button kbd="c" onPress={() => answer(cancel)} {...off}>
          {t.dialogCancel}
        </Button>
      </div>
    </>
  );
}

/** A question of a kind that this console does not know: it is shown as it came, and cannot be answered here. */
export function UnknownQuestion() {
  const { question } = useCard();
  useCardKeys({});
  return (
    <>
      <Note>{t.unknownMore}</Note>
      <RevealedJson value={question.request} />
    </>
  );
}
