import { lazy, Suspense } from "react";
import { useCommands } from "../app/commands";
import { useKeys } from "../app/keys";
import { go } from "../app/router";
import { useHub } from "../store/hub";
import { useReadable } from "../store/readable";
import { sessionsTexts as t } from "../texts/sessions";
import { closeDialog, openAdopt, openByHand, openDialog, openNewSession } from "./dialogs";

// They are read when they are first opened: this component is on every page.
const Adopt = lazy(async () => ({ default: (await import("./Adopt")).Adopt }));
const ByHand = lazy(async () => ({ default: (await import("./ByHand")).ByHand }));
const NewSession = lazy(async () => ({ default: (await import("./NewSession")).NewSession }));

const search = (): void => go({ page: "search", q: "" });

/** The dialogs about sessions, with the keys and commands that bring them up on every page. */
export function SessionDialogs() {
  const open = useReadable(openDialog);
  const admin = useHub().can("admin");
  useKeys(t.pane, [
    { keys: "n", label: t.keys.create, when: admin, run: () => openNewSession() },
    { keys: "/", label: t.keys.search, run: search },
  ]);
  useCommands(t.pane, [
    ...(admin
      ? [
          { id: "sessions.new", label: t.keys.create, keys: "n", run: () => openNewSession() },
          { id: "sessions.adopt", label: t.keys.adopt, run: openAdopt },
          { id: "sessions.by-hand", label: t.byHand.title, run: () => openByHand() },
        ]
      : []),
    { id: "sessions.search", label: t.keys.search, keys: "/", run: search },
  ]);
  return (
    <Suspense fallback={null}>
      {open?.dialog === "new" && <NewSession preset={open.preset} onClose={closeDialog} />}
      {open?.dialog === "adopt" && <Adopt onClose={closeDialog} />}
      {open?.dialog === "by-hand" && <ByHand dir={open.dir} onClose={closeDialog} />}
    </Suspense>
  );
}
