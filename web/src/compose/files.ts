import type { Api } from "../api/client";
import type { OpenSession } from "../store/hub";
import type { Item } from "../talk/item";
import { firstText } from "../talk/json";

/** How many items of the conversation are looked through for paths, from its end. */
const mostItems = 1500;
const mostPaths = 500;

/** The paths that the conversation has named, the latest first, as seen from the session's folder. */
export function pathsIn(session: Pick<OpenSession, "order" | "item">, dir: string | undefined): readonly string[] {
  const found = new Set<string>();
  const ids = session.order.get().ids;
  for (let i = ids.length - 1; i >= 0 && i >= ids.length - mostItems && found.size < mostPaths; i--) {
    const id = ids[i];
    const path = id === undefined ? "" : pathOf(session.item(id).get());
    if (path !== "") found.add(relative(path, dir));
  }
  return [...found];
}

function pathOf(item: Item | undefined): string {
  return item?.kind === "tool" ? firstText(item.input, "file_path", "notebook_path") : "";
}

/** A path as seen from a folder; as it is if it lies elsewhere. */
function relative(path: string, dir: string | undefined): string {
  const folder = dir?.endsWith("/") ? dir : `${dir ?? ""}/`;
  return dir && path.startsWith(folder) && path.length > folder.length ? path.slice(folder.length) : path;
}

/** Asks the agent which files fit what is written. A version that cannot tell tells none, which is no error. */
export async function suggestedFiles(api: Api, session: string, q: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { files } = await api.call("suggest-files", { params: { id: session }, query: { q }, signal });
    return files ?? [];
  } catch {
    return [];
  }
}
