import { ChevronRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { classes } from "../ui/classes";
import styles from "./Foldable.module.css";
import { useFold } from "./fold";

interface FoldProps {
  /** The key under which it is remembered: an item's id, or that and something more. */
  id: string;
  title: ReactNode;
  /** More about it, dim, behind the title. */
  hint?: ReactNode;
  icon?: ReactNode;
  open?: boolean;
  className?: string;
  children: ReactNode;
}

/** One line that opens. What is inside is drawn only while it is open. */
export function Fold({ id, title, hint, icon, open: initial = false, className, children }: FoldProps) {
  const [open, setOpen] = useFold(id, initial);
  const body = useId();
  return (
    <div className={classes(styles.fold, className)}>
      <button
        type="button"
        className={styles.head}
        aria-expanded={open}
        aria-controls={open ? body : undefined}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight size={14} className={styles.chevron} aria-hidden="true" />
        {icon}
        <span className={styles.title}>{title}</span>
        {hint ? <span className={styles.hint}>{hint}</span> : null}
      </button>
      {open ? (
        <div id={body} className={styles.body}>
          {children}
        </div>
      ) : null}
    </div>
  );
}
