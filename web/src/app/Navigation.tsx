import {
  ChartColumn,
  CircleHelp,
  Command,
  Inbox,
  type LucideIcon,
  MessagesSquare,
  Search,
  Server,
  Settings,
  ShieldCheck,
} from "lucide-react";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { IconButton } from "../ui/buttons";
import { classes } from "../ui/classes";
import { openQuestions } from "./badge";
import css from "./Navigation.module.css";
import { Link, type Route } from "./router";

/** The pages. A narrow bar has no room for all: the settings lead to those that are for wide screens only. */
const entries: readonly { to: Route; icon: LucideIcon; wideOnly?: boolean }[] = [
  { to: { page: "sessions" }, icon: MessagesSquare },
  { to: { page: "inbox" }, icon: Inbox },
  { to: { page: "search", q: "" }, icon: Search },
  { to: { page: "insight", tab: "costs" }, icon: ChartColumn },
  { to: { page: "rules" }, icon: ShieldCheck },
  { to: { page: "machines" }, icon: Server, wideOnly: true },
  { to: { page: "settings" }, icon: Settings },
];

interface NavigationProps {
  route: Route;
  wide: boolean;
  onHelp(): void;
  onPalette(): void;
}

/** The pages: a slim rail at the side, or a bar at the bottom of narrow screens. */
export function Navigation({ route, wide, onHelp, onPalette }: NavigationProps) {
  const count = usePart(useHub().questions, openQuestions);
  const shown = entries.filter(({ wideOnly }) => wide || !wideOnly);
  // A page without an entry belongs to the one that leads to it.
  const at = route.page === "session" ? "sessions" : !wide && route.page === "machines" ? "settings" : route.page;
  return (
    <div className={classes(css.navigation, wide ? css.rail : css.bar)}>
      {wide && <Brand />}
      <nav aria-label={t.navigation}>
        <ul className={css.entries}>
          {shown.map(({ to, icon: Icon }) => {
            const here = to.page === at;
            const counted = to.page === "inbox" && count > 0;
            return (
              <li key={to.page}>
                <Link to={to} className={css.entry} {...(here ? { "aria-current": "page" as const } : {})}>
                  <span className={css.icon}>
                    <Icon size={20} strokeWidth={1.75} aria-hidden="true" />
                    {counted && (
                      <span className={css.count} aria-hidden="true">
                        {count > 99 ? "99+" : count}
                      </span>
                    )}
                  </span>
                  <span>{t.pages[to.page]}</span>
                  {counted && <span className={css.unseen}>{t.inboxCount(count)}</span>}
                </Link>
              </li>
            );
          })}
        </ul>
      </nav>
      {wide && (
        <div className={css.tools}>
          <IconButton icon={<Command size={16} />} label={t.palette.title} kbd="mod+k" onPress={onPalette} />
          <IconButton icon={<CircleHelp size={16} />} label={t.keys.title} kbd="?" onPress={onHelp} />
        </div>
      )}
    </div>
  );
}

/** Which hub this is: the name, and the address, which two hubs never share. */
function Brand() {
  const version = usePart(useHub().info, (info) => info?.version ?? "");
  return (
    <div className={css.brand} title={t.hub(location.host, version)}>
      <img src="./icon.svg" alt={t.name} width={24} height={24} />
      <span className={css.host}>
        {location.hostname}
        {location.port && <span className={css.port}>:{location.port}</span>}
      </span>
    </div>
  );
}

/** Says aloud how many questions wait, on every page: also on a narrow one that has no room for the bar. */
export function Announcement() {
  const count = usePart(useHub().questions, openQuestions);
  return (
    <p className={css.unseen} role="status">
      {t.announceQuestions(count)}
    </p>
  );
}
