import type { Session } from "../api/types";
import type { OpenSession } from "../store/hub";
import { steerTexts as t } from "../texts/steer";
import { classes } from "../ui/classes";
import { formatMoment } from "../ui/format";
import { useNow } from "../ui/hooks";
import { Badge } from "../ui/signs";
import css from "./Context.module.css";
import header from "./Header.module.css";
import { openPanel } from "./panels";
import { type Limit, limitsOf } from "./told";

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

/** How often is looked whether a limit has begun anew, in milliseconds. */
const look = 30_000;

/** Says in the header that a limit of the account is near or reached; nothing while all are far. */
export function LimitFact({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const now = useNow(look);
  const worst = limitsOf(snapshot)
    .filter((limit) => limit.state !== "far" && !isOver(limit, now))
    .sort((a, b) => Number(b.state === "reached") - Number(a.state === "reached"))[0];
  if (!worst) return null;
  return (
    <button type="button" className={classes(header.fact, header[worst.state])} onClick={() => openPanel(session, "context")}>
      {worst.state === "reached" ? t.limitReached : t.limitNear(worst.percent)}
    </button>
  );
}

/** How much of the account's limits is used, and when they begin anew. */
export function Limits({ snapshot }: { snapshot: Session }) {
  const now = useNow(look);
  const limits = limitsOf(snapshot);
  if (limits.length === 0) return null;
  return (
    <section className={css.section} aria-label={t.limits}>
      <h3>{t.limits}</h3>
      <ul>
        {limits.map((limit) => (
          <li key={limit.kind} className={css.size}>
            <span>
              {t.limitName(limit.kind)}{" "}
              <span className={css.dim}>{isOver(limit, now) ? t.limitOver : <Resets at={limit.resets} />}</span>
            </span>
            {!isOver(limit, now) && (
              <span className={css.share}>
                {limit.percent !== undefined && (
                  <>
                    <Gauge percent={Math.min(100, limit.percent)} />
                    <span className={css.percent}>{limit.percent} %</span>
                  </>
                )}
                {limit.state !== "far" && (
                  <Badge tone={limit.state === "reached" ? "danger" : "warn"}>{t.limitState[limit.state]}</Badge>
                )}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Resets({ at }: { at: number | undefined }) {
  if (at === undefined) return null;
  const date = new Date(at);
  return (
    <>
      {t.limitUntil} <time dateTime={date.toISOString()}>{formatMoment(date)}</time>
    </>
  );
}

/** Whether the window that a limit is counted in has ended: what was told of it does not hold any more. */
function isOver(limit: Limit, now: number): boolean {
  return limit.resets !== undefined && limit.resets <= now;
}
