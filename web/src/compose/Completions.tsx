import { useEffect, useRef } from "react";
import { composeTexts as t } from "../texts/compose";
import { classes } from "../ui/classes";
import css from "./Completions.module.css";
import type { Offer } from "./complete";

/** The id of an entry, by which the field says which one is chosen. */
export function offerId(list: string, at: number): string {
  return `${list}-${at}`;
}

/** What a word could become. The field keeps the keyboard; a press chooses as enter does. */
export function Completions({
  id,
  offers,
  at,
  onPick,
}: {
  id: string;
  offers: readonly Offer[];
  at: number;
  onPick: (offer: Offer) => void;
}) {
  const chosen = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one is chosen, and must be seen
  useEffect(() => {
    chosen.current?.scrollIntoView({ block: "nearest" });
  }, [at, offers]);
  return (
    <div id={id} role="listbox" aria-label={t.completions} className={css.list}>
      {offers.map((offer, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field that has the focus takes the keys
        <div
          key={offer.label}
          id={offerId(id, i)}
          role="option"
          tabIndex={-1}
          aria-selected={i === at}
          ref={i === at ? chosen : undefined}
          className={classes(css.offer, i === at && css.chosen)}
          // The field would lose the focus before the click.
          onMouseDown={(e) => e.preventDefault()}
          onClick={() => onPick(offer)}
        >
          <span className={css.label}>{offer.label}</span>
          {offer.hint && <span className={css.hint}>{offer.hint}</span>}
        </div>
      ))}
    </div>
  );
}
