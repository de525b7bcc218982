export { Code } from "./Code";
export { ColouredLine } from "./ColouredLine";
export { highlightLines, type Token, type TokenLine, useColoured } from "./highlight";
export { drawnMost, LongText, size } from "./LongText";
export { languageNamed, languageOf } from "./languages";
