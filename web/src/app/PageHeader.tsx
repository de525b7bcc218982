import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { appTexts as t } from "../texts/app";
import { IconButton } from "../ui/buttons";
import { classes } from "../ui/classes";
import { useWide } from "../ui/hooks";
import css from "./PageHeader.module.css";
import { back, type Route } from "./router";

interface PageHeaderProps {
  title: ReactNode;
  /** A few words beside the title: a count, a state. */
  beside?: ReactNode;
  actions?: ReactNode;
  /** Where the arrow leads if there is nothing to go back to. On wide screens it is shown only with alwaysBack. */
  backTo?: Route;
  alwaysBack?: boolean;
  className?: string;
}

/** The head of a page: its name as the one h1, and what can be done with all of it. */
export function PageHeader({ title, beside, actions, backTo, alwaysBack, className }: PageHeaderProps) {
  const wide = useWide();
  return (
    <header className={classes(css.header, className)}>
      {backTo && (alwaysBack || !wide) && (
        <IconButton icon={<ArrowLeft size={16} />} label={t.back} onPress={() => back(backTo)} />
      )}
      <h1 className={css.title}>{title}</h1>
      {beside && <div className={css.beside}>{beside}</div>}
      {actions && <div className={css.actions}>{actions}</div>}
    </header>
  );
}
