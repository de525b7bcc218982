import type { Event, Frame } from "../api/types";

/** WebSockets for tests: the test plays the server. Give `connect` to what connects. */
export class FakeSockets {
  readonly all: FakeSocket[] = [];

  connect = (address: string, protocols: string[]): WebSocket => {
    const socket = new FakeSocket(address, protocols);
    this.all.push(socket);
    return socket as unknown as WebSocket;
  };

  /** The newest one whose address has this in it. */
  last(part = ""): FakeSocket {
    const found = this.all.findLast((s) => s.address.includes(part));
    if (!found) throw new Error(`no socket with ${part} in its address`);
    return found;
  }
}

export class FakeSocket {
  readonly address: string;
  readonly protocols: string[];
  /** Whether the page has left. */
  left = false;
  onmessage: ((e: { data: string }) => void) | null = null;
  onclose: ((e: { code: number }) => void) | null = null;

  constructor(address: string, protocols: string[]) {
    this.address = address;
    this.protocols = protocols;
  }

  /** What the page asked for after a name in its address. */
  asked(name: string): string | null {
    return new URL(this.address).searchParams.get(name);
  }

  close(): void {
    this.left = true;
  }

  send(frame: Frame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  resume(verdict = "ok", lastEventId?: string): void {
    this.send({ type: "resume", resume: { resume: verdict, last_event_id: lastEventId } });
  }

  event(event: Event, position?: string): void {
    this.send({ type: "event", event, position });
  }

  end(code: number): void {
    this.onclose?.({ code });
  }
}
