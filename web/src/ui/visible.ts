const hidden = new RegExp(
  [
    // Controls, separators, fillers, tags, and signs of format: among them those that turn the order of letters around, with which a
    // line can be made to read as another one than it is. Tabs and line feeds are left.
    String.raw`(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u2060-\u206f\u2800\u3164\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]`,
    // What joins or selects belongs to scripts and emoji. Behind a Latin letter, or another of its own, it is there to deceive.
    String.raw`(?<![^\0-\u024f\u200c\u200d])[\u200c\u200d]`,
    String.raw`(?<![#*\d©®]|[^\0-\u024f\u200c\u200d\ufe00-\ufe0f])[\ufe00-\ufe0f]`,
  ].join("|"),
  "gu",
);

/**
 * A text with everything in it made visible: what cannot be seen could deceive whoever decides by what they see. Line ends of Windows
 * become plain ones.
 */
export function visible(text: string): string {
  return shown(text.replace(/\r\n/g, "\n"));
}

/** The same, in which line ends of Windows can be told from others. */
export function visibleEnds(text: string): string {
  return shown(text);
}

function shown(text: string): string {
  // Nearly everything is plain, and may be long.
  if (!/[^\t\n -~]/.test(text)) return text;
  return text.replace(hidden, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCharCode(0x2400 + code); // its picture
    if (code === 0x7f) return "\u2421";
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
