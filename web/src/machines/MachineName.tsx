import { Server } from "lucide-react";
import { machinesTexts as t } from "../texts/machines";
import { classes } from "../ui/classes";
import unseen from "../ui/unseen.module.css";
import { visible } from "../ui/visible";
import css from "./MachineName.module.css";

/** The machine that a session runs on, beside its folder. Nothing for the hub's own, which most sessions run on. */
export function MachineName({ node, className }: { node: string | undefined; className?: string }) {
  if (!node) return null;
  const name = visible(node);
  return (
    <span className={classes(css.machine, className)} title={t.on(name)}>
      <Server size={12} aria-hidden="true" />
      <span className={unseen.unseen}>{t.prefix} </span>
      <span className={css.name}>{name}</span>
    </span>
  );
}
