import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from "react-aria-components";
import { uiTexts as t } from "../texts/ui";
import { classes } from "./classes";
import css from "./panes.module.css";
import { remembered } from "./remembered";

interface SplitProps {
  /** Under which name the width is remembered. */
  name: string;
  /** What the first pane, a place to choose from, is called. */
  label: string;
  first: ReactNode;
  second: ReactNode;
  /** The width of the first pane in pixels, at first, at least and at most. */
  size?: number;
  min?: number;
  max?: number;
  className?: string;
}

const step = 16;

/** Two panes side by side; the line between them is dragged, or moved with the arrow keys. */
export function Split({ name, label, first, second, size = 340, min = 220, max = 640, className }: SplitProps) {
  const key = `switchboard.split.${name}`;
  const [width, setWidth] = useState(() => bounded(Number(remembered.get(key)) || size, min, max));
  const from = useRef<{ x: number; width: number } | undefined>(undefined);

  const set = (wanted: number) => {
    const next = bounded(wanted, min, max);
    setWidth(next);
    remembered.set(key, String(next));
  };
  const down = (e: PointerEvent<HTMLHRElement>) => {
    e.currentTarget.setPointerCapture(e.pointerId);
    from.current = { x: e.clientX, width };
  };
  const move = (e: PointerEvent<HTMLHRElement>) => {
    if (from.current) set(from.current.width + e.clientX - from.current.x);
  };
  const up = () => {
    from.current = undefined;
  };
  const keys = (e: KeyboardEvent<HTMLHRElement>) => {
    const to = { ArrowLeft: width - step, ArrowRight: width + step, Home: min, End: max }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    set(to);
  };

  return (
    <div className={classes(css.split, className)}>
      <nav className={css.first} aria-label={label} style={{ inlineSize: width }}>
        <div className={css.pane}>{first}</div>
        <hr
          className={css.line}
          aria-label={t.resize}
          aria-orientation="vertical"
          aria-valuenow={width}
          aria-valuemin={min}
          aria-valuemax={max}
          tabIndex={0}
          onPointerDown={down}
          onPointerMove={move}
          onPointerUp={up}
          onPointerCancel={up}
          onDoubleClick={() => set(size)}
          onKeyDown={keys}
        />
      </nav>
      <div className={css.second}>{second}</div>
    </div>
  );
}

function bounded(n: number, min: number, max: number): number {
  return Math.min(Math.max(n, min), max);
}

export interface TabItem {
  id: string;
  label: ReactNode;
  children: ReactNode;
}

/** Several views of one thing, of which one is seen. */
export function Tabs({
  label,
  items,
  value,
  onChange,
  className,
}: {
  label: string;
  items: readonly TabItem[];
  value?: string;
  onChange?: (id: string) => void;
  className?: string;
}) {
  return (
    <AriaTabs
      className={classes(css.tabs, className)}
      {...(value === undefined ? {} : { selectedKey: value })}
      {...(onChange ? { onSelectionChange: (key) => onChange(String(key)) } : {})}
    >
      <TabList aria-label={label} className={css.list ?? ""}>
        {items.map((item) => (
          <Tab key={item.id} id={item.id} className={css.tab ?? ""}>
            {item.label}
          </Tab>
        ))}
      </TabList>
      {items.map((item) => (
        <TabPanel key={item.id} id={item.id} className={css.panel ?? ""}>
          {item.children}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
