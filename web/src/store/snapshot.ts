import type { Event, Message, Question, Session } from "../api/types";
import { dataFlag, dataText, lineType, messageOf, questionOf } from "./eventData";

/** How soon a snapshot is to be read again after an event, in milliseconds; undefined if the event changes nothing in it. */
export function refreshAfter(e: Event): number | undefined {
  switch (e.kind) {
    case "line":
      return afterLine(e);
    case "sent":
    case "history":
    case "decision":
    case "command":
    case "oversize":
    case "notice":
    case "sandbox_refused":
      return undefined;
    default:
      return 150;
  }
}

function afterLine(e: Event): number | undefined {
  switch (lineType(e)) {
    case "result":
    case "control_response":
      return 150;
    case "system":
    case "rate_limit_event":
    case "session_state_changed":
      return 500;
    case "assistant":
    case "user":
      // Beginnings of texts and the context's use: they are in no hurry.
      return 3000;
    default:
      return undefined;
  }
}

/** The snapshot as it is after an event, as far as the event alone tells it. The same object if it tells nothing. */
export function patched(session: Session, e: Event): Session {
  switch (e.kind) {
    case "state": {
      const state = dataText(e, "state");
      return state && state !== session.state ? { ...session, state } : session;
    }
    case "mode": {
      const mode = dataText(e, "mode");
      return mode ? { ...session, permission_mode: mode } : session;
    }
    case "updated": {
      const title = dataText(e, "title");
      const archived = dataFlag(e, "archived");
      if (title === undefined && archived === undefined) return session;
      return { ...session, title: title ?? session.title, archived: archived ?? session.archived };
    }
    case "question_opened":
    case "question_changed":
    case "question_settled": {
      const q = questionOf(e);
      return q ? { ...session, questions: withQuestion(session.questions ?? [], q) } : session;
    }
    case "message": {
      const m = messageOf(e);
      return m ? { ...session, messages: withMessage(session.messages ?? [], m) } : session;
    }
    default:
      return session;
  }
}

function withQuestion(list: readonly Question[], q: Question): Question[] {
  if (q.state !== "open") return list.filter((o) => o.id !== q.id);
  return list.some((o) => o.id === q.id) ? list.map((o) => (o.id === q.id ? q : o)) : [...list, q];
}

const underWay = new Set(["queued", "sent", "written"]);

function withMessage(list: readonly Message[], m: Message): Message[] {
  if (!underWay.has(m.state)) return list.filter((o) => o.id !== m.id);
  // An event may tell less than was known: of a message that is sent, its content is not told again.
  return list.some((o) => o.id === m.id) ? list.map((o) => (o.id === m.id ? { ...o, ...m } : o)) : [...list, m];
}
