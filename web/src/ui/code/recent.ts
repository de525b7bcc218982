/** Keeps what was made of texts lately, up to so many characters of them: rows come and go while one scrolls. */
export class Recent<V> {
  private readonly values = new Map<string, V>(); // the oldest first
  private readonly most: number;
  private size = 0;

  constructor(most: number) {
    this.most = most;
  }

  get(text: string): V | undefined {
    const value = this.values.get(text);
    if (value === undefined) return undefined;
    this.values.delete(text);
    this.values.set(text, value);
    return value;
  }

  set(text: string, value: V): void {
    // One large text must not push out all others.
    if (text.length > this.most / 10 || this.values.has(text)) return;
    this.values.set(text, value);
    this.size += text.length;
    for (const oldest of this.values.keys()) {
      if (this.size <= this.most) break;
      this.values.delete(oldest);
      this.size -= oldest.length;
    }
  }
}
