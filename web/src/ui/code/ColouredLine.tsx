import type { TokenLine } from "./highlight";

/** One line of coloured code, without its end. */
export function ColouredLine({ line }: { line: TokenLine }) {
  return line.map((token, i) =>
    token.cls ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place
      <span key={i} className={token.cls}>
        {token.text}
      </span>
    ) : (
      token.text
    ),
  );
}
