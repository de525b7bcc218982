// Drives a session of a hub with the official TypeScript SDK and prints what the SDK's user got to see: one JSON object per line, without
// anything that differs from run to run (ids, times, paths). The Go test starts it, and compares.
//
//   node sdk.mjs NODE_MODULES TRANSPORT SCENE
//
// TRANSPORT is direct (the SDK's Direct Connect transport) or browser (its WebSocket transport for browsers). SCENE is talk, a whole
// conversation; hook or tool, which ends with the hub waiting for a hook or an in-process tool of ours, for the Go test to kill us. The
// environment has HUB, the hub's address, TOKEN, and PROJECT, the folder to work in. The model obeys directives (claudetest.Directives).

import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';

const [modules, transportName, scene] = process.argv.slice(2);
const { HUB: hub, TOKEN: token, PROJECT: project } = process.env;
const load = (file) => import(pathToFileURL(join(modules, file)));

// Without this node would print the SDK's source, which is one line of a megabyte.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

const tell = (fact) => process.stdout.write(JSON.stringify(fact).replaceAll(project, '$PROJECT') + '\n');

// The other front end, which uses /v1.
async function v1(method, path, body) {
  const response = await fetch(`${hub}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

// What the callbacks saw in the turn that runs.
let seen = [];
// What canUseTool answers next, by tool.
const answers = new Map();

async function canUseTool(name, input, { signal, toolUseID, requestId }) {
  seen.push({ asked: name, input, hasToolUseID: toolUseID.length > 0 });
  const answer = answers.get(name);
  if (!answer) throw new Error(`asked for ${name}, which this part of the conversation does not expect`);
  return answer(input, signal, requestId);
}

const allow = (input) => ({ behavior: 'allow', updatedInput: input });
const never = () => new Promise(() => {});

async function preToolUse(input, toolUseID) {
  const { tool_name: name, tool_input: toolInput } = input;
  seen.push({ hook: input.hook_event_name, tool: name, input: toolInput, sameID: toolUseID === input.tool_use_id });
  const decide = (permissionDecision, more) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } });
  if (toolInput.command === 'echo wrong') return decide('allow', { updatedInput: { ...toolInput, command: 'echo right' } });
  if (toolInput.command?.startsWith('rm ')) return decide('deny', { permissionDecisionReason: 'nothing is removed here' });
  if (scene === 'hook') {
    tell({ waiting: 'hook', session });
    return never();
  }
  return {};
}

function desk({ createSdkMcpServer, tool }, z) {
  return createSdkMcpServer({
    name: 'desk',
    version: '1.0.0',
    tools: [
      tool('add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => {
        seen.push({ called: 'add', a, b });
        if (scene === 'tool') {
          tell({ waiting: 'tool', session });
          return never();
        }
        return { content: [{ type: 'text', text: `the sum is ${a + b}` }] };
      }, { alwaysLoad: true }),
    ],
  });
}

// Streaming input: prompts are handed over one by one.
const prompts = [];
let wake = () => {};
async function* input() {
  for (;;) {
    while (prompts.length === 0) await new Promise((resolve) => (wake = resolve));
    const text = prompts.shift();
    if (text === null) return;
    yield { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null, session_id: '' };
  }
}
function push(text) {
  prompts.push(text);
  wake();
}

let session;
const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [preToolUse] }] };

// The SDK's query takes no transport, but what starts its process may be given: here it starts nothing and carries the lines over the SDK's
// own transport.
async function direct() {
  const sdk = await load('@anthropic-ai/claude-agent-sdk/sdk.mjs');
  const { z } = await load('zod/index.js');
  const { serverUrl, authToken } = sdk.parseDirectConnectUrl(`cc://${new URL(hub).host}/${token}`);
  const transport = new sdk.DirectConnectTransport({ serverUrl, authToken, cwd: project, permissionMode: 'default', deleteSessionOnClose: true });
  await transport.ready;
  session = transport.getSessionId();
  tell({ connected: true, folder: transport.getWorkDir() });

  const spawnClaudeCodeProcess = () => {
    const child = new EventEmitter();
    const exit = (code) => {
      if (child.exitCode !== null) return;
      child.exitCode = code;
      child.emit('exit', code, null);
    };
    Object.assign(child, { exitCode: null, killed: false, kill: () => transport.close() });
    child.stdin = new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => transport.write(chunk.toString()).then(() => done(), done),
      final: (done) => {
        transport.close();
        done();
      },
    });
    child.stdout = Readable.from((async function* () {
      try {
        for await (const message of transport.readMessages()) yield JSON.stringify(message) + '\n';
        exit(0);
      } catch (error) {
        child.emit('error', error);
      }
    })());
    child.stderr = Readable.from([]);
    return child;
  };
  return sdk.query({
    prompt: input(),
    options: { pathToClaudeCodeExecutable: process.execPath, spawnClaudeCodeProcess, cwd: project, canUseTool, hooks, mcpServers: { desk: desk(sdk, z) } },
  });
}

// The transport for browsers is given the address that the hub tells.
async function browser() {
  const sdk = await load('@anthropic-ai/claude-agent-sdk/browser-sdk.js');
  const response = await fetch(`${hub}/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cwd: project, permission_mode: 'default' }),
  });
  const created = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(created));
  session = created.session_id;
  tell({ connected: true, folder: created.work_dir });
  return sdk.query({
    prompt: input(),
    websocket: { url: created.ws_url, authMessage: { type: 'auth', credential: { type: 'oauth', token } } },
    canUseTool,
    hooks,
    mcpServers: { desk: desk(sdk, sdk.z) },
  });
}

const q = await { direct, browser }[transportName]();

// Follows a turn to its result; say begins it. onText is called once, when the first words are streamed.
async function turn(name, say, onText) {
  seen = [];
  if (typeof say === 'function') await say();
  else push(say.join('\n'));
  const fact = { turn: name };
  const said = [];
  const results = [];
  const others = [];
  let deltas = 0;
  for (;;) {
    const { value: message, done } = await q.next();
    if (done) throw new Error(`the session ended in the turn ${name}`);
    switch (message.type) {
      case 'system':
        if (message.subtype === 'informational') fact.notice = message.content;
        if (message.subtype !== 'init') break;
        fact.init = { model: message.model, mode: message.permissionMode, folder: message.cwd, tools: ['AskUserQuestion', 'Bash', 'Write', 'mcp__desk__add'].filter((t) => message.tools.includes(t)) };
        break;
      case 'stream_event':
        if (message.event.type !== 'content_block_delta' || message.event.delta.type !== 'text_delta') break;
        if (deltas++ === 0 && onText) await onText();
        break;
      case 'assistant':
        for (const block of message.message.content) {
          if (block.type === 'text') said.push(block.text);
          if (block.type === 'tool_use') said.push({ tool: block.name });
        }
        break;
      case 'user': {
        const blocks = typeof message.message.content === 'string' ? [{ type: 'text', text: message.message.content }] : message.message.content;
        for (const block of blocks) {
          if (block.type === 'text') others.push(block.text.split('\n')[0]);
          if (block.type !== 'tool_result') continue;
          const content = Array.isArray(block.content) ? block.content.map((part) => part.text).join('') : block.content;
          results.push({ error: block.is_error === true, content });
        }
        break;
      }
      case 'result':
        // A turn that was broken off may have streamed more or less until then.
        Object.assign(fact, { said: onText ? said.length : said, results, seen });
        if (onText) fact.streamed = deltas > 0;
        if (others.length > 0 && !onText) fact.others = others;
        fact.result = { subtype: message.subtype, failed: message.is_error };
        fact.denied = message.permission_denials.map((denial) => denial.tool_name);
        return fact;
    }
  }
}

// Texts that a real tool writes and a simulated one does not are left out of the facts.
const without = (fact) => {
  fact.results = fact.results.map(({ error }) => ({ error }));
  return fact;
};

const ready = await q.initializationResult();
tell({ initialized: Object.keys(ready).filter((key) => ['commands', 'models', 'account', 'agents'].includes(key)).sort() });

if (scene === 'hook' || scene === 'tool') {
  answers.set('mcp__desk__add', allow);
  push({ hook: '@tool Bash {"command":"touch guarded.txt","description":"Make a file"}\n@say Over.', tool: '@tool mcp__desk__add {"a":1,"b":2}\n@say Over.' }[scene]);
  for await (const message of q) if (message.type === 'result') throw new Error('the turn ended before we were gone');
}

tell(await turn('hello', ['@say Hello, SDK.']));

answers.set('Write', allow);
tell(without(await turn('permission granted', ['@say I write it.', '@tool Write {"file_path":"notes.txt","content":"one"}', '@say Written.'])));

answers.set('Bash', () => ({ behavior: 'deny', message: 'Not on this machine.' }));
tell(await turn('permission denied', ['@tool Bash {"command":"touch denied.txt","description":"Make a file"}', '@say Then not.']));

answers.set('AskUserQuestion', (asked) => ({
  behavior: 'allow',
  updatedInput: { ...asked, answers: { 'Which colour?': 'Green', 'Which sizes?': 'S, L' } },
}));
const questions = [
  { question: 'Which colour?', header: 'Colour', options: [{ label: 'Red', description: 'warm' }, { label: 'Green', description: 'calm' }], multiSelect: false },
  { question: 'Which sizes?', header: 'Sizes', options: [{ label: 'S', description: 'small' }, { label: 'L', description: 'large' }], multiSelect: true },
];
const answered = await turn('question', [`@tool AskUserQuestion ${JSON.stringify({ questions })}`, '@say Thank you.']);
// What the model is told, without the words around it.
answered.results = answered.results.map(({ error, content }) => ({ error, pairs: content.match(/"[^"]*"="[^"]*"/g) }));
tell(answered);

tell(await turn('hook changes the input', ['@tool Bash {"command":"echo wrong","description":"Say it"}', '@say Said.']));
tell(await turn('hook denies', ['@tool Bash {"command":"rm notes.txt","description":"Remove it"}', '@say Kept.']));

answers.set('mcp__desk__add', allow);
tell(await turn('in-process tool', ['@tool mcp__desk__add {"a":2,"b":40}', '@say Added.']));
tell({ servers: (await q.mcpServerStatus()).filter((s) => s.name === 'desk').map(({ name, status }) => ({ name, status })) });

await q.setPermissionMode('acceptEdits');
tell(without(await turn('edits accepted', ['@tool Write {"file_path":"more.txt","content":"two"}', '@say Unasked.'])));
await q.setPermissionMode('default');

await q.setModel('another-model');
tell(await turn('another model', ['@say Hello from another model.']));

const slow = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
tell(await turn('interrupted in mid-stream', ['@slow 500ms', `@say ${slow}`], () => q.interrupt()));
tell(await turn('goes on', ['@say Still here.']));

// Somebody else is faster: the callback is told that nobody needs its answer.
let faster;
answers.set('Write', (_, signal, requestId) => new Promise((resolve, reject) => {
  signal.addEventListener('abort', () => {
    seen.push({ withdrawn: true });
    reject(new Error('withdrawn'));
  });
  faster = v1('GET', `/questions?session=${session}&state=open`).then(({ body }) => {
    const { id } = body.questions.find((one) => one.request_id === requestId);
    return v1('POST', `/questions/${id}/answer`, { client_id: 'first', decision: 'allow' });
  });
}));
tell(without(await turn('answered by somebody else', ['@tool Write {"file_path":"theirs.txt","content":"three"}', '@say They said yes.'])));
tell({ faster: (await faster).status });

// Now they are slower.
let question;
answers.set('Write', async (asked, _, requestId) => {
  const { body } = await v1('GET', `/questions?session=${session}&state=open`);
  question = body.questions.find((one) => one.request_id === requestId).id;
  return allow(asked);
});
tell(without(await turn('answered before somebody else', ['@tool Write {"file_path":"ours.txt","content":"four"}', '@say You said yes.'])));
const late = await v1('POST', `/questions/${question}/answer`, { client_id: 'late', decision: 'deny', message: 'No.' });
tell({ late: late.status, code: late.body.code });

// Somebody else prompts. The session is shown as it is to them, too.
tell(await turn('prompted by somebody else', () => v1('POST', `/sessions/${session}/messages`, { client_id: 'theirs', text: '@say Hello, everybody.' })));

// No more prompts. A transport for browsers leaves the session alone, the other ends it.
push(null);
q.close();
if (transportName === 'browser') {
  const response = await fetch(`${hub}/sessions/${session}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 204) throw new Error(`ending the session: ${response.status}`);
}
for (;;) {
  const { body } = await v1('GET', `/sessions/${session}`);
  if (body.state === 'ended') break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
tell({ ended: true });
