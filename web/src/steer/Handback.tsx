import { Server } from "lucide-react";
import { useState } from "react";
import type { Session } from "../api/types";
import { type OpenSession, useHub } from "../store/hub";
import { oneLine } from "../talk/json";
import { steerTexts as t } from "../texts/steer";
import { Button } from "../ui/buttons";
import { CopyLine } from "../ui/CopyButton";
import { Dialog } from "../ui/dialogs";
import { Checkbox } from "../ui/fields";
import { Note } from "../ui/notes";
import css from "./Form.module.css";
import { handBackLine } from "./handback";
import { closePanel, openPanel } from "./panels";
import { refusal } from "./useSession";

/** Says how to go on with the conversation in Claude Code's own terminal. */
export function HandbackPanel({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const hub = useHub();
  const [fork, setFork] = useState(false);
  const owned = snapshot.state !== "ended" && !fork;
  const why = refusal(hub, snapshot, { scope: "admin" });
  const { dir, conversation } = snapshot;
  return (
    <Dialog title={t.handback} isOpen onClose={closePanel}>
      <div className={css.form}>
        <p>{t.handbackText}</p>
        {snapshot.simulated && <Note tone="warn">{t.handbackSimulated}</Note>}
        {!conversation && <p>{t.noConversation}</p>}
        {conversation && !dir && <p>{t.handbackNoFolder}</p>}
        {owned && (
          <Note tone="warn">
            <div className={css.form}>
              <p>{t.handbackOwned}</p>
              <div>
                <Button
                  size="s"
                  variant="danger"
                  isDisabled={why !== undefined}
                  reason={why}
                  onPress={() => openPanel(session, "stop")}
                >
                  {t.stopAction}
                </Button>
              </div>
            </div>
          </Note>
        )}
        {snapshot.state !== "ended" && (
          <Checkbox isSelected={fork} onChange={setFork}>
            {t.handbackFork}
          </Checkbox>
        )}
        {snapshot.node && <Note icon={<Server size={16} aria-hidden="true" />}>{t.handbackOn(oneLine(snapshot.node, 63))}</Note>}
        {conversation && dir && !owned && <CopyLine text={handBackLine(dir, conversation, fork)} label={t.handbackCopy} />}
        {!fork && <p className={css.dim}>{t.handbackBack}</p>}
      </div>
    </Dialog>
  );
}
