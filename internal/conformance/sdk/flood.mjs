// Takes a flood of lines through the official TypeScript SDK and prints how long that took, for the benchmark that compares it with ours.
//
//   node flood.mjs NODE_MODULES EXECUTABLE PROMPT
//
// Prints one JSON object: what came (messages, characters in deltas), the seconds from the prompt to the result, and the most memory that was resident, in bytes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executable, prompt] = process.argv.slice(2);
const { query } = await import(pathToFileURL(join(modules, '@anthropic-ai/claude-agent-sdk/sdk.mjs')));

// Without this node would print the SDK's source, which is one line of a megabyte.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

let say = () => {};
const said = new Promise((resolve) => (say = resolve));
let finish = () => {};
const finished = new Promise((resolve) => (finish = resolve));
async function* input() {
  await said;
  yield { type: 'user', message: { role: 'user', content: prompt }, parent_tool_use_id: null, session_id: '' };
  await finished;
}

const q = query({
  prompt: input(),
  options: { pathToClaudeCodeExecutable: executable, cwd: process.cwd(), env: process.env, settingSources: [], includePartialMessages: true },
});
await q.initializationResult();

let messages = 0;
let characters = 0;
const start = performance.now();
let end = start;
say();
for await (const message of q) {
  messages++;
  switch (message.type) {
    case 'stream_event': {
      if (message.event.type !== 'content_block_delta') break;
      const { text, thinking, partial_json: input } = message.event.delta;
      characters += (text ?? thinking ?? input ?? '').length;
      break;
    }
    case 'result':
      end = performance.now();
      finish();
      break;
  }
}
const memory = Number(readFileSync('/proc/self/status', 'utf8').match(/VmHWM:\s+(\d+) kB/)[1]) * 1024;
process.stdout.write(JSON.stringify({ messages, characters, seconds: (end - start) / 1000, memory }) + '\n');
