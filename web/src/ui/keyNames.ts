const isApple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

const names: Record<string, string> = {
  mod: isApple ? "⌘" : "Ctrl",
  ctrl: "Ctrl",
  alt: isApple ? "⌥" : "Alt",
  shift: "⇧",
  enter: "↵",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  tab: "Tab",
  space: "Space",
};

/** The names of the keys of "mod+k" or "g i", one after another. Capital letters are shown with the shift key. */
export function keyNames(keys: string): string[] {
  return keys
    .split(" ")
    .flatMap((stroke) => (stroke === "+" ? ["+"] : stroke.split("+")))
    .flatMap((key) => {
      if (/^[A-Z]$/.test(key)) return ["⇧", key];
      return [names[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)];
    });
}
