import { type ReactNode, useEffect, useRef, useState } from "react";
import { askTexts as t } from "../texts/ask";
import { classes } from "../ui";
import css from "./Card.module.css";
import { useCard } from "./card";

/** What is asked about, which may be long: it scrolls, and the card knows whether its end was on the screen. */
export function ScrollBox({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  const { seen } = useCard();
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  const [more, setMore] = useState(false);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let reached = 0;
    const look = () => {
      // Further down than what has been seen from the beginning on does not count: there is something between.
      if (element.scrollTop <= reached) reached = Math.max(reached, element.scrollTop + element.clientHeight);
      setScrolls(element.scrollHeight > element.clientHeight + 1);
      setMore(element.scrollTop + element.clientHeight < element.scrollHeight - 8);
    };
    look();
    seen.current = () => {
      look();
      return reached >= element.scrollHeight - 8;
    };
    element.addEventListener("scroll", look, { passive: true });
    const resized = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(look);
    resized?.observe(element);
    for (const child of element.children) resized?.observe(child);
    return () => {
      element.removeEventListener("scroll", look);
      resized?.disconnect();
      seen.current = () => true;
    };
  }, [seen]);

  return (
    <>
      {/* It can be focused only while there is something to scroll to. A group and no region: an inbox has many of these. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        ref={box}
        className={classes(css.box, className)}
        role="group"
        aria-label={label}
        {...(scrolls ? { tabIndex: 0 } : {})}
        data-scrolls={scrolls}
      >
        <div>{children}</div>
      </div>
      {scrolls && (
        <p className={css.more} aria-hidden="true" data-more={more}>
          {t.scrollMore}
        </p>
      )}
    </>
  );
}
