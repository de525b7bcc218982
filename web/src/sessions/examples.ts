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
  return [wish, "", "Orders for the simulated agent:", ...orders].join("\n");
}

const planText = `# Clean slugs

Titles with several spaces or punctuation lead to addresses with double dashes.

1. In \`slug/slug.go\`, write a dash only between words.
2. Trim dashes at both ends.
3. Add cases to \`slug/slug_test.go\`: two spaces, punctuation, an empty title.

No address that is fine today changes.`;

export const examples: readonly Example[] = [
  { id: "demo", ...t.demo, prompt: "The slugs of our posts have double dashes in them. Please mend that." },
  {
    id: "permission",
    ...t.permission,
    prompt: prompt(
      "Please make room on the disk.",
      "@think The build folder is the largest one, and can be made again.",
      say("The folder `build` takes up 3.2 GB and can be made again at any time. I would like to remove it."),
      order("Bash", { command: "rm -rf build && df -h .", description: "Remove the build folder and show the free space" }),
      '@result "Filesystem  Size  Used Avail Use%\\n/dev/sda1    50G   31G   19G  62%"',
      say("Done: 19 GB are free now."),
    ),
  },
  {
    id: "edit",
    ...t.edit,
    prompt: prompt(
      "Slugs have double dashes in them. Please mend that.",
      say("A dash is written for every character that is no letter. I write it only between words."),
      order("Edit", {
        file_path: "slug/slug.go",
        old_string: "\t\tdefault:\n\t\t\tb.WriteByte('-')\n\t\t}\n\t}\n\treturn b.String()\n",
        new_string:
          "\t\tcase b.Len() > 0 && !dash:\n\t\t\tb.WriteByte('-')\n\t\t\tdash = true\n\t\t}\n\t}\n\treturn strings.TrimSuffix(b.String(), \"-\")\n",
      }),
      "@result The file was changed.",
      say("Words are now separated by exactly one dash."),
    ),
  },
  {
    id: "plan",
    ...t.plan,
    mode: "plan",
    prompt: prompt(
      "How would you get rid of the double dashes in our slugs?",
      say("I have read the code, and would do it like this."),
      order("ExitPlanMode", { plan: planText }),
      say("Then I begin."),
    ),
  },
  {
    id: "choice",
    ...t.choice,
    prompt: prompt(
      "Add an archive page to the blog.",
      say("Before I begin I need to know two things."),
      order("AskUserQuestion", {
        questions: [
          {
            question: "How are the posts to be grouped?",
            header: "Grouping",
            multiSelect: false,
            options: [
              { label: "By year", description: "One heading for each year, the newest first" },
              { label: "By month", description: "Finer, for blogs with many posts" },
              { label: "By topic", description: "Uses the tags that posts have already" },
            ],
          },
          {
            question: "What is shown of each post?",
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
      say("Thank you, now I can begin."),
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
