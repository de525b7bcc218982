import type { Json } from "../api/types";
import { isObject, type JsonObject } from "./json";

/** How much of an input that is being written is looked at: it is read again whenever it is drawn. */
const mostRead = 64_000;
const mostDepth = 64;

/**
 * Reads an object that is still being written, as far as it has come: what is open is closed where the text ends, and a member whose value
 * has not begun is left out.
 */
export function partialObject(text: string): JsonObject {
  const value = new Reader(text.slice(0, mostRead)).value(0);
  return isObject(value) ? value : {};
}

class Reader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The value that begins here; undefined if none does, or one that cannot be told yet. */
  value(depth: number): Json | undefined {
    this.space();
    const c = this.text[this.at];
    if (c === undefined || depth > mostDepth) return undefined;
    if (c === "{") return this.object(depth);
    if (c === "[") return this.array(depth);
    if (c === '"') return this.string();
    return this.word();
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++;
  }

  /** Takes a character if it is the next one. */
  private take(c: string): boolean {
    this.space();
    if (this.text[this.at] !== c) return false;
    this.at++;
    return true;
  }

  private object(depth: number): JsonObject {
    const members: { [name: string]: Json } = {};
    this.at++;
    while (!this.take("}")) {
      this.space();
      if (this.text[this.at] !== '"') break;
      const name = this.string();
      if (!this.take(":")) break;
      const value = this.value(depth + 1);
      if (value === undefined) break;
      // A name such as __proto__ is a member like any other.
      Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
      if (!this.take(",")) {
        this.take("}");
        break;
      }
    }
    return members;
  }

  private array(depth: number): Json[] {
    const list: Json[] = [];
    this.at++;
    while (!this.take("]")) {
      const value = this.value(depth + 1);
      if (value === undefined) break;
      list.push(value);
      if (!this.take(",")) {
        this.take("]");
        break;
      }
    }
    return list;
  }

  private string(): string {
    const from = this.at + 1;
    let end = from;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === "\\" ? 2 : 1;
    this.at = Math.min(end + 1, this.text.length);
    const inner = this.text.slice(from, Math.min(end, this.text.length));
    // An escape that is not complete at the end, such as \ or \u00, is left out.
    return parsed(inner) ?? parsed(inner.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "")) ?? inner;
  }

  /** A number, true, false or null: known only when something follows it. */
  private word(): Json | undefined {
    const rest = /^[-+.\w]+/.exec(this.text.slice(this.at, this.at + 64));
    if (!rest || this.at + rest[0].length >= this.text.length) return undefined;
    this.at += rest[0].length;
    try {
      return JSON.parse(rest[0]) as Json;
    } catch {
      return undefined;
    }
  }
}

function parsed(inner: string): string | undefined {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return undefined;
  }
}
