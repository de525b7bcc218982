import { useReadable } from "../store/readable";
import { appTexts as t } from "../texts/app";
import { Dialog } from "../ui/dialogs";
import { Kbd } from "../ui/signs";
import css from "./Help.module.css";
import { type KeyGroup, keyGroups } from "./keys";

interface Listed {
  name: string;
  keys: { keys: string; label: string }[];
}

/** The groups by name, each key once: a group may be registered by several components. */
export function listed(groups: readonly KeyGroup[]): Listed[] {
  const byName = new Map<string, Listed>();
  for (const group of groups) {
    const entry = byName.get(group.name) ?? { name: group.name, keys: [] };
    byName.set(group.name, entry);
    for (const { keys, label } of group.keys) {
      const same = entry.keys.find((other) => other.label === label);
      if (!label || same?.keys.split(" / ").includes(keys)) continue;
      if (same) same.keys += ` / ${keys}`;
      else entry.keys.push({ keys, label });
    }
  }
  const everywhere = byName.get(t.keys.everywhere);
  const rest = [...byName.values()].filter((group) => group !== everywhere);
  return (everywhere ? [everywhere, ...rest] : rest).filter((group) => group.keys.length > 0);
}

/** Every key that works on the page that is shown. */
export function Help({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const groups = listed(useReadable(keyGroups));
  return (
    <Dialog title={t.keys.title} isOpen={isOpen} onClose={onClose} size="l">
      <div className={css.groups}>
        {groups.map((group) => (
          <section key={group.name} className={css.group}>
            <h3 className={css.name}>{group.name}</h3>
            <dl className={css.keys}>
              {group.keys.map(({ keys, label }) => (
                <div key={keys} className={css.row}>
                  <dt>{label}</dt>
                  <dd>
                    <span className={css.spoken}>{keys}</span>
                    {keys.split(" / ").map((one) => (
                      <Kbd key={one} keys={one} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className={css.note}>{t.keys.note}</p>
    </Dialog>
  );
}
