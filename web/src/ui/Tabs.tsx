import type { ReactNode } from "react";
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from "react-aria-components";
import { classes } from "./classes";
import css from "./Tabs.module.css";

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
