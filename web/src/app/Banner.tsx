import { FlaskConical, LoaderCircle, ShieldX, WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { type LinkState, useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { Button } from "../ui/buttons";
import { classes } from "../ui/classes";
import { formatTime } from "../ui/format";
import { useNow } from "../ui/hooks";
import { toast } from "../ui/toast";
import css from "./Banner.module.css";

// A connection that comes within this time is not worth a word.
const patience = 1500;

/** What is true of the whole page: that it is not connected, that agents are simulated. */
export function Banner() {
  const hub = useHub();
  const link = useReadable(hub.link);
  const info = useReadable(hub.info);
  return (
    <header>
      <Connection link={link} onRetry={() => hub.retry()} onLogin={() => hub.logout()} />
      {info?.simulated && (
        <p className={classes(css.banner, css.simulated)}>
          <FlaskConical size={14} aria-hidden="true" />
          {t.simulated}
        </p>
      )}
    </header>
  );
}

function Connection({ link, onRetry, onLogin }: { link: LinkState; onRetry(): void; onLogin(): void }) {
  const late = useLate(link);
  const lost = link.status !== "online" && late;
  useReturnToast(link.status, lost);
  // The region is there before something is written into it, or screen readers miss it.
  return (
    <div role="status">
      {lost && (
        <div className={classes(css.banner, css[link.status])}>
          {link.status === "connecting" && (
            <>
              <LoaderCircle size={14} aria-hidden="true" />
              <span className={css.text}>{t.link.connecting}</span>
            </>
          )}
          {link.status === "offline" && (
            <>
              <WifiOff size={14} aria-hidden="true" />
              <span className={css.text}>{t.link.offline(formatTime(link.since))}</span>
              <span className={css.means}>{t.link.offlineMeans}</span>
              <Countdown until={link.retryAt} />
              <Button size="s" className={css.act ?? ""} onPress={onRetry}>
                {t.link.tryNow}
              </Button>
            </>
          )}
          {link.status === "refused" && (
            <>
              <ShieldX size={14} aria-hidden="true" />
              <span className={css.text}>{link.reason ?? t.link.refused}</span>
              <Button size="s" className={css.act ?? ""} onPress={onLogin}>
                {t.link.login}
              </Button>
            </>
          )}
        </div>
      )}
    </div>
  );
}

/** The seconds to the next try; not read aloud, or it would be every second. */
function Countdown({ until }: { until: number | undefined }) {
  const now = useNow(1000);
  const seconds = until === undefined ? 0 : Math.ceil((until - now) / 1000);
  return (
    <span className={css.count} aria-hidden="true">
      {seconds > 0 ? t.link.retryIn(seconds) : t.link.trying}
    </span>
  );
}

/** Whether the state has lasted long enough to be told. */
function useLate(link: LinkState): boolean {
  const [late, setLate] = useState(false);
  const { status, since } = link;
  useEffect(() => {
    if (status === "online" || status === "refused") {
      setLate(status === "refused");
      return;
    }
    const left = since + patience - Date.now();
    const timer = setTimeout(() => setLate(true), Math.max(0, left));
    return () => clearTimeout(timer);
  }, [status, since]);
  return late;
}

function useReturnToast(status: LinkState["status"], lost: boolean) {
  const [wasOffline, setWasOffline] = useState(false);
  useEffect(() => {
    if (lost && status === "offline") setWasOffline(true);
    if (status === "online" && wasOffline) {
      setWasOffline(false);
      toast({ title: t.link.back, tone: "ok" });
    }
  }, [status, lost, wasOffline]);
}
