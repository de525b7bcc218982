import { useState } from "react";
import type { Json } from "../api/types";
import { pretty } from "../talk/json";
import { askTexts as t } from "../texts/ask";
import { Button } from "../ui";
import css from "./Card.module.css";
import { revealed } from "./hidden";

/** A value as JSON, with characters that cannot be seen written as numbers. What is very long is drawn whole only when somebody asks. */
export function RevealedJson({ value }: { value: Json }) {
  const [all, setAll] = useState(false);
  const { text, left } = pretty(value, all ? Number.MAX_SAFE_INTEGER : undefined);
  return (
    <>
      <pre className={css.json}>{revealed(text)}</pre>
      {left > 0 && (
        <Button size="s" onPress={() => setAll(true)}>
          {t.showAll(left)}
        </Button>
      )}
    </>
  );
}
