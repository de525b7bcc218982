import { Bell } from "lucide-react";
import { useReadable } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { Button } from "../ui/buttons";
import css from "./NotifyHint.module.css";
import { enableNotifications, notifySettings, permission, setNotifySettings } from "./notifications";

/** Offers notifications, until somebody has said yes or no. */
export function NotifyHint() {
  const allowed = useReadable(permission);
  const { declined } = useReadable(notifySettings);
  if (allowed !== "default" || declined) return null;
  return (
    <aside className={css.hint} aria-label={t.notify.title}>
      <Bell size={16} aria-hidden="true" />
      <span className={css.text}>{t.notify.gentle}</span>
      <Button size="s" onPress={() => void enableNotifications()}>
        {t.notify.enable}
      </Button>
      <Button size="s" variant="quiet" onPress={() => setNotifySettings({ declined: true })}>
        {t.notify.notNow}
      </Button>
    </aside>
  );
}
