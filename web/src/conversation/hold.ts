import { type RefObject, useCallback, useEffect, useRef } from "react";

/** How many frames something has to stand still, and how long it is waited for at most, in milliseconds. */
const stillFrames = 4;
const longest = 3000;

/** What can be brought to a place: an element, or a part of a text. */
interface Placed {
  getBoundingClientRect(): DOMRect;
}

interface Hold {
  hold(find: () => Placed | null, where: (height: number, room: number) => number, then: () => void): void;
  /** Ends it: the list goes elsewhere. */
  release(): void;
}

/**
 * Moves a list until something in it stands where it should: `where` says how far below its upper edge, by the height of both.
 * What is above it is measured as it is drawn, and moves it, so this takes some frames. Whoever moves the list by hand ends it.
 */
export function useHold(scroll: RefObject<HTMLElement | null>): Hold {
  const stop = useRef(() => {});
  const release = useCallback(() => stop.current(), []);
  useEffect(() => release, [release]);
  const hold = useCallback<Hold["hold"]>(
    (find, where, then) => {
      stop.current();
      const element = scroll.current;
      if (!element) return;
      const begun = performance.now();
      let [frame, still] = [0, 0];
      const hands = ["wheel", "touchmove", "pointerdown", "keydown"];
      const end = () => {
        cancelAnimationFrame(frame);
        for (const name of hands) element.removeEventListener(name, finish);
      };
      const finish = () => {
        end();
        then();
      };
      const step = () => {
        const box = find()?.getBoundingClientRect();
        if (box) {
          const before = element.scrollTop;
          const off = box.top - element.getBoundingClientRect().top - where(box.height, element.clientHeight);
          if (Math.abs(off) > 1) element.scrollTop = before + off;
          // At either end of the list it cannot go farther.
          still = element.scrollTop === before ? still + 1 : 0;
        }
        if (still < stillFrames && performance.now() - begun < longest) {
          frame = requestAnimationFrame(step);
          return;
        }
        finish();
      };
      stop.current = end;
      for (const name of hands) element.addEventListener(name, finish, { passive: true });
      frame = requestAnimationFrame(step);
    },
    [scroll],
  );
  return { hold, release };
}
