import type { Session } from "../api/types";
import type { OpenSession } from "../store/hub";
import { useReadable } from "../store/readable";
import { ContextPanel } from "./Context";
import { ControlPanel } from "./Control";
import { EnvironmentPanel } from "./Environment";
import { ForkPanel } from "./Fork";
import { HandbackPanel } from "./Handback";
import { HoldPanel } from "./Hold";
import { ResumePanel, StopPanel } from "./Life";
import { McpPanel } from "./Mcp";
import { openedPanel } from "./panels";
import { RewindPanel } from "./Rewind";
import { RulesPanel } from "./Rules";
import { TasksPanel } from "./Tasks";

/** The panel that is open for this session, whoever has opened it. */
export function Panels({ session, snapshot }: { session: OpenSession; snapshot: Session }) {
  const panel = useReadable(openedPanel);
  if (panel?.session !== session.id) return null;
  const about = { session, snapshot };
  switch (panel.kind) {
    case "fork":
      return <ForkPanel {...about} uuid={panel.uuid} />;
    case "rewind":
      return <RewindPanel {...about} uuid={panel.uuid} />;
    case "context":
      return <ContextPanel {...about} />;
    case "mcp":
      return <McpPanel {...about} />;
    case "rules":
      return <RulesPanel {...about} />;
    case "tasks":
      return <TasksPanel {...about} />;
    case "resume":
      return <ResumePanel {...about} />;
    case "stop":
      return <StopPanel {...about} />;
    case "handback":
      return <HandbackPanel {...about} />;
    case "control":
      return <ControlPanel {...about} />;
    case "environment":
      return <EnvironmentPanel {...about} />;
    case "hold":
      return <HoldPanel {...about} />;
    case "rename":
      return null; // the title is changed in its place
  }
}
