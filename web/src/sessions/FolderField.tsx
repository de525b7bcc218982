import { useEffect, useState } from "react";
import type { Folder } from "../api/types";
import { useHub } from "../store/hub";
import { sessionsTexts } from "../texts/sessions";
import { ComboBox } from "../ui/fields";
import { formatAgo } from "../ui/format";

const t = sessionsTexts.create;
/** How long somebody has stopped typing before folders are looked up. */
const pause = 150;
const mostFolders = 30;

/** A folder of the machine that the agents run on, with suggestions: those used lately, and those that begin with what was typed. */
export function FolderField({
  value,
  onChange,
  error,
  autoFocus,
}: {
  value: string;
  onChange(dir: string): void;
  error?: string;
  autoFocus?: boolean;
}) {
  const { api } = useHub();
  const [folders, setFolders] = useState<readonly Folder[]>([]);

  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(() => {
      api.call("list-folders", { query: { prefix: value.trim() || undefined, limit: mostFolders }, signal: control.signal }).then(
        (found) => setFolders(found.folders ?? []),
        () => undefined, // without suggestions a path can still be typed
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [api, value]);

  return (
    <ComboBox
      label={t.folder}
      hint={t.folderHint}
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

/** What is known of a folder besides its path. */
function folderHint(folder: Folder): string | undefined {
  const used = folder.used ? Date.parse(folder.used) : Number.NaN;
  // The server writes the year 1 for a time that it does not have.
  const parts = [folder.git && t.folderGit, used > 0 && t.folderUsed(formatAgo(used, Date.now()))].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : undefined;
}
