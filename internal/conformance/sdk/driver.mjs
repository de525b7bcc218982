// Holds a conversation through the official TypeScript SDK with whatever executable it is given, and prints what the SDK's user got to see:
// one JSON object per line, without anything that differs from run to run (ids, times, paths). The Go test runs it with a real CLI and with
// the simulated one, and compares.
//
//   node driver.mjs NODE_MODULES EXECUTABLE
//
// The model behind the CLI must obey directives (claudetest.Directives): the prompts say what it answers. The folder it is started in is the
// project; the environment is handed on as it is.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executable] = process.argv.slice(2);
// The SDK lies in a cache folder, where a plain import would not find it.
const load = (file) => import(pathToFileURL(join(modules, file)));
const { query, createSdkMcpServer, tool } = await load('@anthropic-ai/claude-agent-sdk/sdk.mjs');
const { z } = await load('zod/index.js');

// Without this node would print the SDK's source, which is one line of a megabyte.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

const tell = (fact) => process.stdout.write(JSON.stringify(fact).replaceAll(process.cwd(), '$PROJECT') + '\n');

// What the callbacks saw in the turn that runs.
let seen = [];
// What canUseTool answers next, by tool.
const answers = new Map();

async function canUseTool(name, input, { signal, toolUseID, mcpServer }) {
  const fact = { asked: name, input, hasToolUseID: toolUseID.length > 0 };
  if (mcpServer) fact.mcpServer = mcpServer;
  seen.push(fact);
  const answer = answers.get(name);
  if (!answer) throw new Error(`asked for ${name}, which this part of the conversation does not expect`);
  return answer(input, signal);
}

const allow = (input) => ({ behavior: 'allow', updatedInput: input });

async function preToolUse(input, toolUseID) {
  const { tool_name: name, tool_input: toolInput } = input;
  seen.push({ hook: input.hook_event_name, tool: name, input: toolInput, sameID: toolUseID === input.tool_use_id });
  const decide = (permissionDecision, more) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } });
  if (toolInput.command === 'echo wrong') return decide('allow', { updatedInput: { ...toolInput, command: 'echo right' } });
  if (toolInput.command?.startsWith('rm ')) return decide('deny', { permissionDecisionReason: 'nothing is removed here' });
  return {};
}

// A tool that is not offered from the start gets a remark of the CLI's below its errors.
const offered = { alwaysLoad: true };
const desk = createSdkMcpServer({
  name: 'desk',
  version: '1.0.0',
  tools: [
    tool('add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => {
      seen.push({ called: 'add', a, b });
      return { content: [{ type: 'text', text: `the sum is ${a + b}` }] };
    }, offered),
    tool('fail', 'Fails', {}, async () => ({ isError: true, content: [{ type: 'text', text: 'the desk is closed' }] }), offered),
  ],
});

// Streaming input: prompts are handed over one by one, and the end of them ends the CLI.
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

const q = query({
  prompt: input(),
  options: {
    pathToClaudeCodeExecutable: executable,
    cwd: process.cwd(),
    env: process.env,
    model: 'claude-sonnet-4-5',
    permissionMode: 'default',
    settingSources: [],
    includePartialMessages: true,
    canUseTool,
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [preToolUse] }] },
    mcpServers: { desk },
    stderr: (text) => process.stderr.write(text),
  },
});

// Says a prompt and follows its turn to the result. onText is called once, when the first words are streamed.
async function turn(name, lines, onText) {
  seen = [];
  push(lines.join('\n'));
  const fact = { turn: name };
  const said = [];
  const results = [];
  let deltas = 0;
  for (;;) {
    const { value: message, done } = await q.next();
    if (done) throw new Error(`the CLI ended in the turn ${name}`);
    switch (message.type) {
      case 'system':
        if (message.subtype !== 'init') break;
        fact.init = {
          version: message.claude_code_version,
          model: message.model,
          mode: message.permissionMode,
          here: message.cwd === process.cwd(),
          servers: message.mcp_servers.filter((s) => s.name === 'desk'),
          tools: ['AskUserQuestion', 'Bash', 'Write', 'mcp__desk__add'].filter((t) => message.tools.includes(t)),
        };
        break;
      case 'stream_event':
        if (message.event.type !== 'content_block_delta' || message.event.delta.type !== 'text_delta') break;
        if (deltas++ === 0 && onText) await onText();
        break;
      case 'assistant':
        for (const block of message.message.content) {
          if (block.type === 'text') said.push({ text: block.text, model: message.message.model });
          if (block.type === 'tool_use') said.push({ tool: block.name });
        }
        break;
      case 'user':
        for (const block of Array.isArray(message.message.content) ? message.message.content : []) {
          if (block.type !== 'tool_result') continue;
          const content = Array.isArray(block.content) ? block.content.map((part) => part.text).join('') : block.content;
          results.push({ error: block.is_error === true, content });
        }
        break;
      case 'result':
        // A turn that was broken off may have streamed more or less until then.
        Object.assign(fact, { streamed: deltas > 0, said: onText ? said.length : said, results, seen });
        fact.result = { subtype: message.subtype, failed: message.is_error, turns: message.num_turns, text: message.result };
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
answers.set('mcp__desk__fail', allow);
tell(await turn('in-process tool', ['@tool mcp__desk__add {"a":2,"b":40}', '@say Added.']));
tell(await turn('in-process tool fails', ['@tool mcp__desk__fail', '@say Failed.']));
tell({ servers: (await q.mcpServerStatus()).filter((s) => s.name === 'desk').map(({ name, status, tools }) => ({ name, status, tools: tools?.map((t) => t.name) })) });

await q.setPermissionMode('acceptEdits');
tell(without(await turn('edits accepted', ['@tool Write {"file_path":"more.txt","content":"two"}', '@say Unasked.'])));
await q.setPermissionMode('default');

await q.setModel('another-model');
tell(await turn('another model', ['@say Hello from another model.']));

const slow = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
tell(await turn('interrupted in mid-stream', [`@slow 500ms`, `@say ${slow}`], () => q.interrupt()));

tell(await turn('goes on', ['@say Still here.']));

answers.set('ExitPlanMode', allow);
await q.setPermissionMode('plan');
tell(without(await turn('plan approved', ['@tool ExitPlanMode {}', '@say Now I do it.'])));

answers.set('Bash', (_, signal) => new Promise((resolve, reject) => {
  signal.addEventListener('abort', () => {
    seen.push({ withdrawn: true });
    reject(new Error('withdrawn'));
  });
  q.interrupt();
}));
tell(without(await turn('interrupted while it asks', ['@tool Bash {"command":"touch never.txt","description":"Make a file"}', '@say Never said.'])));

// A CLI whose last turn failed would end with an error.
tell(await turn('goes on after that', ['@say Still here, again.']));

// No more prompts: the CLI ends, and so does the conversation.
push(null);
for await (const message of q) if (message.type === 'result') throw new Error('a result after the last prompt');
tell({ ended: true });
