/**
 * Runs something at the next frame that the browser draws, and at most a quarter of a second later: a hidden page draws none. Returns a
 * function that takes it back.
 */
export function atNextFrame(run: () => void): () => void {
  let frame = 0;
  const stop = () => {
    clearTimeout(timer);
    if (frame !== 0) cancelAnimationFrame(frame);
  };
  const go = () => {
    stop();
    run();
  };
  const timer = setTimeout(go, 250);
  if (typeof requestAnimationFrame === "function") frame = requestAnimationFrame(go);
  return stop;
}

/** Puts many requests for the same work together, so that it is done once per frame. */
export class Batch {
  private readonly work: () => void;
  private cancel: (() => void) | undefined;

  constructor(work: () => void) {
    this.work = work;
  }

  /** Has the work done at the next frame. */
  soon(): void {
    this.cancel ??= atNextFrame(() => this.now());
  }

  /** Does it at once. */
  now(): void {
    this.drop();
    this.work();
  }

  /** Forgets it. */
  drop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}

/**
 * Does something again and again when it is asked for, one at a time and with a pause between two beginnings, so that however often
 * events ask for it there are few requests.
 */
export class Debounced {
  private readonly work: () => Promise<void>;
  private readonly pause: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = 0;
  private began = Number.NEGATIVE_INFINITY;
  private running = false;
  private again: number | undefined;
  private done = false;

  /** The work must not reject. */
  constructor(pause: number, work: () => Promise<void>) {
    this.pause = pause;
    this.work = work;
  }

  /** Has it done within so many milliseconds, or as soon after that as the pause allows. */
  within(milliseconds: number): void {
    if (this.done) return;
    if (this.running) {
      this.again = Math.min(this.again ?? milliseconds, milliseconds);
      return;
    }
    const now = performance.now(); // a clock that is set back must not hold anything up
    const due = Math.max(now + milliseconds, this.began + this.pause);
    if (this.timer !== undefined) {
      if (due >= this.due) return;
      clearTimeout(this.timer);
    }
    this.due = due;
    this.timer = setTimeout(() => void this.run(), due - now);
  }

  stop(): void {
    this.done = true;
    clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    this.timer = undefined;
    this.running = true;
    this.began = performance.now();
    await this.work();
    this.running = false;
    const again = this.again;
    this.again = undefined;
    if (again !== undefined) this.within(again);
  }
}

const firstAgain = 2000;
const longestAgain = 30_000;

/** Tries again what failed, later each time. Whoever uses it says how each try went. */
export class Again {
  private readonly work: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;

  constructor(work: () => void) {
    this.work = work;
  }

  /** It did not work: it is tried again after a while. */
  failed(): void {
    this.stop();
    this.timer = setTimeout(this.work, Math.min(longestAgain, firstAgain * 2 ** this.failures++));
  }

  /** It worked. */
  worked(): void {
    this.stop();
    this.failures = 0;
  }

  /** Tries no more, until something fails again. */
  stop(): void {
    clearTimeout(this.timer);
  }
}
