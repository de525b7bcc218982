// A dumb pipe between CLIs and front ends, as existing front ends bring along: CLIs connect to /, front ends to /ws, and what comes from one
// side goes to the other as it is. It is what the benchmark of the relay is compared with, run by Bun:
//
//	bun pipe.ts PORT [publish]
//
// It looks into a message only if it may be a request for permission, which it grants. With "publish" it uses Bun's own topics instead of a
// loop over the front ends.

type Side = { cli: boolean };
type Socket = import("bun").ServerWebSocket<Side>;

const [port = "0", way = "send"] = process.argv.slice(2);
const agents = new Set<Socket>();
const frontEnds = new Set<Socket>();
const topic = "lines";

const line = (value: unknown) => JSON.stringify(value) + "\n";
const status = (text: string) => line({ type: "status", text: `claude code ${text}` });

function broadcast(message: string | Buffer) {
  if (way === "publish") {
    server.publish(topic, message);
    return;
  }
  for (const frontEnd of frontEnds) frontEnd.send(message);
}

function approve(agent: Socket, message: string) {
  for (const text of message.split("\n")) {
    if (!text.includes('"control_request"')) continue;
    const { type, request_id, request } = JSON.parse(text);
    if (type !== "control_request" || request?.subtype !== "can_use_tool") continue;
    const response = { behavior: "allow", updatedInput: request.input };
    agent.send(line({ type: "control_response", response: { subtype: "success", request_id, response } }));
  }
}

const server = Bun.serve<Side>({
  hostname: "127.0.0.1",
  port: Number(port),
  fetch(request, server) {
    const { pathname } = new URL(request.url);
    if (server.upgrade(request, { data: { cli: pathname !== "/ws" } })) return;
    return new Response("a pipe between CLIs on / and front ends on /ws\n");
  },
  websocket: {
    maxPayloadLength: 64 << 20,
    perMessageDeflate: false,
    open(socket) {
      if (!socket.data.cli) {
        frontEnds.add(socket);
        socket.subscribe(topic);
        if (agents.size > 0) socket.send(status("is connected"));
        return;
      }
      agents.add(socket);
      socket.send(line({ type: "control_request", request_id: crypto.randomUUID(), request: { subtype: "initialize" } }));
      broadcast(status("connected"));
    },
    message(socket, message) {
      if (!socket.data.cli) {
        for (const agent of agents) agent.send(message);
        return;
      }
      if (typeof message === "string") approve(socket, message);
      broadcast(message);
    },
    close(socket) {
      if (frontEnds.delete(socket)) return;
      agents.delete(socket);
      broadcast(status("disconnected"));
    },
  },
});

console.log(`listening on ${server.port}`);
