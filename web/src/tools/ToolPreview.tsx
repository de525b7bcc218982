import { useMemo } from "react";
import { isObject } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { JsonTree } from "./JsonTree";
import { kindOf } from "./kinds";
import { Members, Remark } from "./Parts";
import css from "./ToolPreview.module.css";

/**
 * What a tool would do, for a question about it: the command, the difference, the address, and then every member of the input that
 * these do not show. Somebody decides by this: nothing is left out, and nothing is hidden.
 */
export function ToolPreview({ name, input }: { name: string; input: unknown }) {
  const members = isObject(input) ? input : undefined;
  const given = useMemo(() => (members ? kindOf(name).given(members) : undefined), [name, members]);
  if (!members || !given) {
    return (
      <div className={css.preview}>
        <JsonTree value={input} />
      </div>
    );
  }
  return (
    <div className={css.preview}>
      {given.view}
      <Members input={members} except={given.drawn} />
      {Object.keys(members).length === 0 && <Remark>{t.noInput}</Remark>}
    </div>
  );
}
