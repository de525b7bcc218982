import { useEffect, useMemo, useState } from "react";
import type { Session } from "../api/types";
import { type Command, commandsOf, takesRequests } from "../steer/told";
import { type OpenSession, useHub } from "../store/hub";
import { type Offer, offerCommands, offerFiles, type Word, wordAt } from "./complete";
import { pathsIn, suggestedFiles } from "./files";

/** How long somebody must have stopped typing before the agent is asked for files: each time is a line in the session's log. */
const pause = 200;
const noOffers: readonly Offer[] = [];

/** What the word before the cursor could become. Undefined if there is nothing to complete, or the list was dismissed. */
export function useCompletion(
  session: OpenSession,
  snapshot: Session | undefined,
  own: readonly Command[],
  text: string,
  caret: number,
  active: boolean,
) {
  const hub = useHub();
  const word = active ? wordAt(text, caret) : undefined;
  const commands = useMemo(() => {
    const cli = commandsOf(snapshot);
    return [...cli, ...own.filter((c) => !cli.some((other) => other.name === c.name))];
  }, [snapshot, own]);
  const wanted = word?.kind === "file" ? word.text : undefined;
  const [found, setFound] = useState<{ for: string; paths: readonly string[] }>();
  const asks = hub.can("prompt") && takesRequests(snapshot);
  useEffect(() => {
    if (wanted === undefined || !asks) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const paths = await suggestedFiles(hub.api, session.id, wanted, stop.signal);
      if (!stop.signal.aborted) setFound({ for: wanted, paths });
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [hub, session.id, wanted, asks]);

  const named = useMemo(() => (wanted === undefined ? [] : pathsIn(session, snapshot?.dir)), [session, snapshot?.dir, wanted]);
  const offers = useMemo((): readonly Offer[] => {
    if (word?.kind === "command") return offerCommands(word.text, commands);
    if (wanted === undefined) return noOffers;
    if (found?.for === wanted) return offerFiles(wanted, named, found.paths);
    // What the agent suggested for fewer letters is shown, as far as it fits, until it has suggested for these.
    const suggested = found && wanted.startsWith(found.for) ? found.paths : [];
    return offerFiles(wanted, [...suggested, ...named]);
  }, [word?.kind, word?.text, wanted, commands, found, named]);

  const key = word ? `${word.kind} ${word.from} ${word.text}` : "";
  const [chosen, setChosen] = useState({ key: "", at: 0 });
  const [dismissed, setDismissed] = useState("");
  const at = chosen.key === key ? Math.min(chosen.at, Math.max(0, offers.length - 1)) : 0;
  const open = word !== undefined && offers.length > 0 && dismissed !== key;
  return {
    open,
    word: word as Word | undefined,
    offers: open ? offers : noOffers,
    at,
    /** Chooses another one, around the ends. */
    move: (by: number) => setChosen({ key, at: (at + by + offers.length) % Math.max(1, offers.length) }),
    dismiss: () => setDismissed(key),
  };
}
