import { visible } from "../ui/visible";

/** A colour of a terminal's eight. Any other is shown as the nearest: only these are readable in both themes. */
export type Colour = "black" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "white";

export interface Style {
  readonly colour?: Colour;
  readonly back?: Colour;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
}

export interface Span {
  readonly text: string;
  readonly style: Style;
}

const colours: readonly Colour[] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

// A sequence is one that ends: CSI with its parameters, an OSC or another string up to its end, a short one. Without one, the escape
// itself is left to be shown.
const sequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what terminals are told with
  /(?:\x1b\[|\x9b)([0-9:;<=>?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-OQ-WYZ\\`-~]/g;

const plain: Style = Object.freeze({});

/**
 * Reads what a program wrote for a terminal: colours become spans, and everything else that would move a cursor is left out. A line
 * that was written over, as progress is, is shown as it was left.
 */
export function parseAnsi(text: string): readonly Span[] {
  const spans: Span[] = [];
  let style: Style = plain;
  let from = 0;
  const push = (piece: string) => {
    if (piece !== "") spans.push({ text: piece, style });
  };
  const source = /[\r\b]/.test(text) ? settle(text) : text;
  for (const match of source.matchAll(sequence)) {
    push(source.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") style = restyled(style, match[1] ?? "");
  }
  push(source.slice(from));
  return spans.map((span) => ({ ...span, text: visible(span.text) }));
}

/** A text without what only a terminal would understand. */
export function withoutAnsi(text: string): string {
  return parseAnsi(text)
    .map((span) => span.text)
    .join("");
}

/** What is left on the screen after carriage returns and backspaces. */
function settle(text: string): string {
  return text
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => {
      const left = line.includes("\r") ? (line.split("\r").findLast((part) => part !== "") ?? "") : line;
      return left.includes("\b") ? struck(left) : left;
    })
    .join("\n");
}

/** A line in which letters were gone back over: manuals print a letter, go back, and print it again. */
function struck(line: string): string {
  const kept: string[] = [];
  for (const sign of line) {
    if (sign === "\b") kept.pop();
    else kept.push(sign);
  }
  return kept.join("");
}

function restyled(style: Style, parameters: string): Style {
  if (parameters === "") return plain;
  let next: Style = style;
  const numbers = parameters.split(/[;:]/).map((p) => (p === "" ? 0 : Number(p)));
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i] ?? 0;
    if (n === 38 || n === 48) {
      const found = extended(numbers, i);
      next = n === 38 ? { ...next, colour: found.colour } : { ...next, back: found.colour };
      i = found.last;
      continue;
    }
    next = simple(next, n);
  }
  return next;
}

function simple(style: Style, n: number): Style {
  if (n >= 30 && n <= 37) return { ...style, colour: colours[n - 30] };
  if (n >= 40 && n <= 47) return { ...style, back: colours[n - 40] };
  if (n >= 90 && n <= 97) return { ...style, colour: n === 90 ? "white" : colours[n - 90] }; // bright black is grey
  if (n >= 100 && n <= 107) return { ...style, back: colours[n - 100] };
  switch (n) {
    case 0:
      return plain;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: true };
    case 7:
      return { ...style, inverse: true };
    case 9:
      return { ...style, strike: true };
    case 22:
      return { ...style, bold: false, dim: false };
    case 23:
      return { ...style, italic: false };
    case 24:
      return { ...style, underline: false };
    case 27:
      return { ...style, inverse: false };
    case 29:
      return { ...style, strike: false };
    case 39:
      return { ...style, colour: undefined };
    case 49:
      return { ...style, back: undefined };
    default:
      return style;
  }
}

/** A colour of 256, or one of red, green and blue, and where its last number stands. */
function extended(numbers: readonly number[], i: number): { colour: Colour | undefined; last: number } {
  if (numbers[i + 1] === 5) return { colour: ofPalette(numbers[i + 2] ?? 0), last: i + 2 };
  if (numbers[i + 1] === 2)
    return { colour: nearest(numbers[i + 2] ?? 0, numbers[i + 3] ?? 0, numbers[i + 4] ?? 0), last: i + 4 };
  return { colour: undefined, last: i + 1 };
}

function ofPalette(n: number): Colour | undefined {
  if (n < 16) return n === 8 ? "white" : colours[n % 8];
  if (n >= 232) return n < 244 ? "black" : "white";
  const cube = n - 16;
  const step = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  return nearest(step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6));
}

/** The one of the eight that has the same hue. */
function nearest(red: number, green: number, blue: number): Colour {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 128 ? "black" : "white";
  const strong = (v: number) => v - least > (most - least) / 2;
  const bits = (strong(red) ? 1 : 0) + (strong(green) ? 2 : 0) + (strong(blue) ? 4 : 0);
  return colours[bits] ?? "white";
}
