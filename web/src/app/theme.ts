import "../ui/base.css";
import { Cell } from "../store/readable";
import { remembered } from "../ui/remembered";

export type Theme = "system" | "light" | "dark";

const key = "switchboard.theme";

function stored(): Theme {
  const value = remembered.get(key);
  return value === "light" || value === "dark" ? value : "system";
}

/** What was chosen; "system" follows the system. */
export const theme = new Cell<Theme>("system");

/** Chooses a theme for all tabs of this browser. */
export function setTheme(choice: Theme): void {
  remembered.set(key, choice === "system" ? undefined : choice);
  theme.set(choice);
}

/** Sets the theme and follows the system and the other tabs. To be called once, before anything is drawn. */
export function startTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const choice = theme.get();
    const resolved = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
    document.documentElement.dataset.theme = resolved;
  };
  theme.subscribe(apply);
  dark.addEventListener("change", apply);
  addEventListener("storage", (e) => {
    if (e.key === key || e.key === null) theme.set(stored());
  });
  theme.set(stored());
  apply();
}
