import { classes } from "../ui";
import css from "./Context.module.css";

/** From how much on something is nearly used up, in percent. */
const nearlyFull = 80;

/** Draws a share of something. */
export function Gauge({ percent }: { percent: number }) {
  return (
    <svg className={classes(css.gauge, percent >= nearlyFull && css.full)} viewBox="0 0 36 6" aria-hidden="true">
      <rect className={css.rail} width="36" height="6" rx="3" />
      <rect className={css.fill} width={Math.max(2, (36 * percent) / 100)} height="6" rx="3" />
    </svg>
  );
}
