/**
 * What the server is asked for when somebody has typed words: the last of them counts as the beginning of one, for they may still be typing.
 * The server finds beginnings by a * behind them. Phrases in quotes, which are open or closed, are left as they are.
 */
export function withBeginning(typed: string): string {
  const quotes = typed.split('"').length - 1;
  return quotes % 2 === 0 && /[\p{L}\p{N}_]$/u.test(typed) ? `${typed}*` : typed;
}
