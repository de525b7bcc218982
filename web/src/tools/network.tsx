import { Network } from "lucide-react";
import { connectionOf } from "../talk/network";
import { sandboxTexts as t } from "../texts/sandbox";
import type { ToolKind } from "./kind";
import { Command, Remark } from "./Parts";

/** What a program in a sandbox wants to reach: the question above says which host, here is which program. */
export const network: ToolKind = {
  icon: Network,
  known: true,
  given(input) {
    const { command } = connectionOf(input);
    if (command !== "") return { view: <Command text={command} />, drawn: ["command"] };
    return { view: <Remark>{t.unknownProgram}</Remark>, drawn: [] };
  },
};
