/** What this browser remembers for all tabs. One that keeps nothing, or has no room, forgets: that is no reason to fail. */
export const remembered = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key: string, value: string | undefined): void {
    try {
      if (value === undefined) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch {
      // What was chosen holds for this tab, as long as it is there.
    }
  },
};
