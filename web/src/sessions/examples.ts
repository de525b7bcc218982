import type { Api } from "../api/client";
import { sessionsTexts } from "../texts/sessions";

const t = sessionsTexts.welcome;

/** A session of the simulated agent that shows one thing. */
export interface Example {
  id: "demo" | "permission" | "edit" | "plan" | "choice";
  title: string;
  text: string;
  /** What the session is called. */
  name: string;
  prompt: string;
  mode?: string;
}

function order(tool: string, input: unknown): string {
  return `@tool ${tool} ${JSON.stringify(input)}`;
}

function say(text: string): string {
  return `@say ${JSON.stringify(text)}`;
}

/** What is asked for in words, and below it what the simulated agent obeys: prompts are shown, so they say what these lines are. */
function prompt(wish: string, ...orders: readonly string[]): string {
  return [wish, "", "Instructions for the simulated agent:", ...orders].join("\n");
}

const planText = `# Clean slugs

Titles with several spaces or punctuation produce URLs with double dashes.

1. In \`slug/slug.go\`, write a dash only between words.
2. Trim dashes at both ends.
3. Add cases to \`slug/slug_test.go\`: two spaces, punctuation, an empty title.

URLs without double dashes don't change.`;

export const examples: readonly Example[] = [
  { id: "demo", ...t.demo, prompt: "Our post slugs have double dashes. Please fix that." },
  {
    id: "permission",
    ...t.permission,
    prompt: prompt(
      "Please free up some disk space.",
      "@think The build folder is the largest, and it can be rebuilt.",
      say("The `build` folder takes up 3.2 GB and can be rebuilt at any time. I'll remove it."),
      order("Bash", { command: "rm -rf build && df -h .", description: "Remove the build folder and show the free space" }),
      '@result "Filesystem  Size  Used Avail Use%\\n/dev/sda1    50G   31G   19G  62%"',
      say("Done. 19 GB are free now."),
    ),
  },
  {
    id: "edit",
    ...t.edit,
    prompt: prompt(
      "Our slugs have double dashes. Please fix that.",
      say("The code writes a dash for every character that isn't a letter. I'll change it to write one only between words."),
      order("Edit", {
        file_path: "slug/slug.go",
        old_string: "\t\tdefault:\n\t\t\tb.WriteByte('-')\n\t\t}\n\t}\n\treturn b.String()\n",
        new_string:
          "\t\tcase b.Len() > 0 && !dash:\n\t\t\tb.WriteByte('-')\n\t\t\tdash = true\n\t\t}\n\t}\n\treturn strings.TrimSuffix(b.String(), \"-\")\n",
      }),
      "@result The file has been updated.",
      say("Fixed: words are now separated by exactly one dash."),
    ),
  },
  {
    id: "plan",
    ...t.plan,
    mode: "plan",
    prompt: prompt(
      "How would you remove the double dashes from our slugs?",
      say("I've read the code. Here's my plan."),
      order("ExitPlanMode", { plan: planText }),
      say("Great, I'll start with the slug function."),
    ),
  },
  {
    id: "choice",
    ...t.choice,
    prompt: prompt(
      "Add an archive page to the blog.",
      say("I have two questions before I start."),
      order("AskUserQuestion", {
        questions: [
          {
            question: "How should the posts be grouped?",
            header: "Grouping",
            multiSelect: false,
            options: [
              { label: "By year", description: "One heading for each year, the newest first" },
              { label: "By month", description: "Better for blogs with many posts" },
              { label: "By topic", description: "Uses the posts' existing tags" },
            ],
          },
          {
            question: "What should each entry show?",
            header: "Details",
            multiSelect: true,
            options: [
              { label: "Date", description: "The day of publication" },
              { label: "Summary", description: "The first sentence" },
              { label: "Tags", description: "As links" },
            ],
          },
        ],
      }),
      say("Thanks, that's all I need. I'll start on the archive page."),
    ),
  },
];

/**
 * Finds a folder for an example. The simulated agent runs no tool, so any that exists will do: the one that was used last, else the home
 * folder, which is known by what is in it.
 */
export async function exampleFolder(api: Api, known: string | undefined): Promise<string | undefined> {
  if (known) return known;
  const recent = await api.call("list-folders", { query: { limit: 1 } });
  const first = recent.folders?.[0];
  if (first) return first.path;
  for (const prefix of ["~/", "/"]) {
    const inside = (await api.call("list-folders", { query: { prefix, limit: 1 } })).folders?.[0];
    if (inside) return parent(inside.path);
  }
  return undefined;
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
