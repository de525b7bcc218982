// What is to be seen on the pictures: a few people's ordinary day.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Question, SessionOptions } from "../../src/api/types";
import { type Hub, until } from "../stage";

// Where the agents work. The same on every machine, since paths are on the pictures.
const projects = "/tmp/projects";
const folders = ["blog", "shop", "docs"] as const;
type Folder = (typeof folders)[number];

export interface Scene {
  /** A task that was worked at to its end, with several questions. */
  done: string;
  /** The same, up to its plan. */
  plan: string;
  /** The same, up to its change of a file. */
  edit: string;
}

/** Makes the folders; false if somebody else's are there. */
export function makeFolders(): () => void {
  mkdirSync(projects);
  for (const folder of folders) mkdirSync(join(projects, folder));
  return () => rmSync(projects, { recursive: true, force: true });
}

/** Starts the agents and answers for people until each is where the pictures want it. */
export async function setScene(hub: Hub): Promise<Scene> {
  const start = async (folder: Folder, title: string, prompt: string, options: SessionOptions = {}) => {
    const dir = join(projects, folder);
    return (await hub.call("create-session", { body: { dir, title, prompt, options } })).id;
  };
  const task = (title: string, prompt: string) => start("blog", title, prompt, { env: { SWITCHBOARD_SIM_SCRIPT: "demo-fast" } });

  const rules = await hub.call("get-rules-file");
  const { pending } = await hub.call("replace-rules-file", { body: { hash: rules.hash, text: rulesText } });
  if (pending) await hub.call("confirm-policy", { body: { sum: pending.sum } });

  // At the pace of a real one, so that its timeline looks like one; the others go on meanwhile.
  const done = await start(
    "blog",
    "Double dashes in addresses",
    "Titles with two spaces get a double dash in their address. Please fix it.",
  );
  const finished = answerUntil(hub, done, () => false);
  const plan = await task("Addresses of empty titles", "What becomes of a title without any letter? Make a plan first.");
  await answerUntil(hub, plan, (question) => question.kind === "plan");
  const edit = await task("Dashes at the end", "Addresses must not end in a dash.");
  await answerUntil(hub, edit, (question) => question.kind === "permission" && question.tool === "Edit");

  const used = "@usage in=48200 out=9400 cache_read=310000 cache_write=52000";
  const failed = await start(
    "shop",
    "Upgrade the router",
    `Upgrade the router to version 7.\n@error 400 message=The conversation is too long for this model`,
    {
      model: "claude-haiku-4-5",
    },
  );
  const ended = await start(
    "shop",
    "Invoices of last year",
    `Where are the invoices of last year kept?\n${used}\n@say In the bucket invoices, one folder for each month.`,
    {
      model: "claude-sonnet-4-5",
    },
  );
  const idle = await start(
    "docs",
    "Spelling of the handbook",
    `Correct the spelling of the handbook.\n${used}\n@say Corrected 14 words in 6 files.`,
    {
      model: "claude-sonnet-4-5",
    },
  );
  await hub.await(failed, "idle");
  await hub.await(idle, "idle");
  await hub.await(ended, "idle");
  await hub.call("stop-session", { params: { id: ended }, body: {} });
  await hub.await(ended, "ended");

  const asking = [
    await start(
      "shop",
      "Round prices once",
      `Prices are rounded twice.\n@tool Edit ${JSON.stringify(priceEdit)}\n@result done\n@say Rounded once.`,
    ),
    await start(
      "docs",
      "A search for the docs",
      `Which search do we want?\n@tool AskUserQuestion ${JSON.stringify(searchChoice)}\n@say Thank you.`,
    ),
    await start(
      "shop",
      "Deploy to staging",
      `Bring it to staging.\n@tool Bash ${JSON.stringify({ command: "make deploy TARGET=staging", description: "Deploy to staging" })}\n@result deployed`,
      {
        model: "claude-sonnet-4-5",
      },
    ),
  ];
  for (const session of asking) await hub.question(session);

  const searching = `@say I look through the chapters first.\n@tool Grep {"pattern":"https?://"}\n@result 214 matches in 31 files\n@tool Read {"file_path":"guide/links.md"}\n@takes 30m`;
  await start(
    "docs",
    "Find dead links",
    `Find the dead links in the guide.\n@tool Task ${JSON.stringify({ description: "Collect all links", prompt: searching, subagent_type: "general-purpose" })}\n@say An agent collects the links; I check them as they come.`,
  );
  await finished;
  return { done, plan, edit };
}

/** Answers what a session asks, as somebody would who agrees, until it asks what is to stay open or has nothing more to ask. */
async function answerUntil(hub: Hub, session: string, stays: (question: Question) => boolean): Promise<void> {
  for (;;) {
    const next = await until(`${session} asks or is done`, async () => {
      const now = await hub.call("get-session", { params: { id: session } });
      const question = now.questions?.[0];
      if (question) return { question };
      return now.state === "idle" && now.result ? { question: undefined } : undefined;
    });
    if (!next.question || stays(next.question)) return;
    await hub.call("answer-question", { params: { id: next.question.id }, body: agreement(next.question) });
  }
}

function agreement(question: Question): Answer {
  switch (question.kind) {
    case "choice": {
      const choices = (question.choices ?? []).map((choice) => [choice.question, { labels: [choice.options?.[0]?.label ?? ""] }]);
      return { decision: "allow", choices: Object.fromEntries(choices) };
    }
    case "plan":
      return { outcome: "ask" };
    case "form":
      return { decision: "accept", content: { release: "1.5.0", breaking: false } };
    default:
      return { decision: "allow" };
  }
}

const rulesText = `sets = ["read-only"]
allow = ["Bash(go test:*)", "Bash(git status:*)"]
ask = ["WebFetch"]
deny = ["Bash(rm:*)", "Read(~/.ssh/**)"]

[[rule]]
rule = "Bash(curl:*)"
decision = "deny"
message = "Use WebFetch instead."
`;

const priceEdit = {
  file_path: "/tmp/projects/shop/src/checkout/total.ts",
  old_string:
    "export function total(items: Item[]): number {\n  const sum = items.reduce((sum, item) => sum + round(item.price), 0);\n  return round(sum);\n}",
  new_string:
    "export function total(items: Item[]): number {\n  const cents = items.reduce((sum, item) => sum + item.cents, 0);\n  return cents / 100;\n}",
};

const searchChoice = {
  questions: [
    {
      question: "Which search shall the docs have?",
      header: "Search",
      multiSelect: false,
      options: [
        { label: "Pagefind", description: "An index beside the pages; no server, works offline" },
        { label: "Meilisearch", description: "A server of our own; tolerates typing errors" },
        { label: "None for now", description: "The table of contents is enough" },
      ],
    },
  ],
};
