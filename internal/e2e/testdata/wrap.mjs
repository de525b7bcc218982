// Has two questions asked through the official TypeScript SDK: it never answers the first one itself, and answers the second at once. Prints what
// the SDK's user got to see, one JSON object per line.
//
//   node wrap.mjs NODE_MODULES EXECUTABLE

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, executable] = process.argv.slice(2);
const { query } = await import(pathToFileURL(join(modules, '@anthropic-ai/claude-agent-sdk/sdk.mjs')));

// Without this node would print the SDK's source, which is one line of a megabyte.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

const tell = (fact) => process.stdout.write(JSON.stringify(fact) + '\n');

let turn = 1;
let withdrawn = false;

async function canUseTool(name, input, { signal }) {
  tell({ asked: name, turn });
  if (turn === 2) return { behavior: 'allow', updatedInput: input };
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      withdrawn = true;
      // Too late: somebody else has answered.
      resolve({ behavior: 'deny', message: 'Nobody was here.' });
    });
  });
}

// The second prompt comes when the first turn is over, and the end after that.
const turns = [defer(), defer()];
function defer() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}
async function* prompts() {
  const say = (text) => ({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null, session_id: '' });
  yield say('@tool Bash {"command":"touch first.txt","description":"Make a file"}\n@say Done.');
  await turns[0].promise;
  yield say('@tool Bash {"command":"touch second.txt","description":"Make a file"}\n@say Done again.');
  await turns[1].promise;
}

let said = [];
const q = query({
  prompt: prompts(),
  options: {
    pathToClaudeCodeExecutable: executable,
    cwd: process.cwd(),
    env: process.env,
    permissionMode: 'default',
    settingSources: [],
    canUseTool,
    stderr: (text) => process.stderr.write(text),
  },
});
for await (const message of q) {
  if (message.type === 'assistant') {
    for (const block of message.message.content) if (block.type === 'text') said.push(block.text);
  }
  if (message.type !== 'result') continue;
  tell({ turn, withdrawn, failed: message.is_error, said });
  turns[turn - 1].resolve();
  turn++;
  withdrawn = false;
  said = [];
}
