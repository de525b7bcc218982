import { useEffect, useMemo, useState } from "react";
import type { Folder } from "../api/types";
import { anyMachine } from "../machines/machines";
import { useHub } from "../store/hub";
import { usePart } from "../store/readable";
import { sessionsTexts } from "../texts/sessions";
import { ComboBox } from "../ui/fields";
import { formatAgo } from "../ui/format";

const t = sessionsTexts.create;
/** How long somebody has stopped typing before folders are looked up. */
const pause = 150;
const mostFolders = 30;

/**
 * A folder of the machine that the agents run on, with suggestions: those used lately, and those that begin with what was typed. Where the hub
 * chooses the machine no disk can be looked at: then those are suggested that sessions on machines have.
 */
export function FolderField({
  value,
  node = "",
  onChange,
  error,
  autoFocus,
}: {
  value: string;
  /** The machine: empty for the hub's own, "any" for the one that the hub chooses. */
  node?: string;
  onChange(dir: string): void;
  error?: string;
  autoFocus?: boolean;
}) {
  const { api } = useHub();
  const [found, setFound] = useState<{ node: string; folders: readonly Folder[] }>({ node, folders: [] });
  const used = useUsed(node === anyMachine, value);

  useEffect(() => {
    if (node === anyMachine) return;
    const control = new AbortController();
    const timer = setTimeout(() => {
      const query = { prefix: value.trim() || undefined, node: node || undefined, limit: mostFolders };
      api.call("list-folders", { query, signal: control.signal }).then(
        (listed) => setFound({ node, folders: listed.folders ?? [] }),
        () => undefined, // without suggestions a path can still be typed
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [api, value, node]);
  // Folders of one machine are none of another.
  const folders = node === anyMachine ? used : found.node === node ? found.folders : [];

  return (
    <ComboBox
      label={t.folder}
      hint={node === anyMachine ? t.folderHintAny : t.folderHint}
      error={error}
      mono
      isRequired
      autoFocus={autoFocus}
      value={value}
      onInput={onChange}
      items={folders.map((folder) => ({ id: folder.path, label: folder.path, hint: folderHint(folder) }))}
    />
  );
}

/** The folders of sessions on machines that have what was typed in them, by path. */
function useUsed(wanted: boolean, value: string): readonly Folder[] {
  const byId = usePart(useHub().sessions, (sessions) => sessions.byId);
  return useMemo(() => {
    if (!wanted) return [];
    const paths = new Set([...byId.values()].flatMap(({ node, dir }) => (node && dir?.includes(value.trim()) ? [dir] : [])));
    return [...paths]
      .sort()
      .slice(0, mostFolders)
      .map((path) => ({ path }));
  }, [wanted, byId, value]);
}

/** What is known of a folder besides its path. */
function folderHint(folder: Folder): string | undefined {
  const used = folder.used ? Date.parse(folder.used) : Number.NaN;
  // The server writes the year 1 for a time that it does not have.
  const parts = [folder.git && t.folderGit, used > 0 && t.folderUsed(formatAgo(used, Date.now()))].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : undefined;
}
