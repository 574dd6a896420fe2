import { API_BASE } from "../http-deps.ts";

/** Groups of operations, in the document's order, with the path prefixes below API_BASE that belong to each. */
const TAGS = [
  { name: "Jobs", description: "Submit work now, fetch the result later", paths: ["jobs"] },
  {
    name: "Chat",
    description: "Compatible with OpenAI's clients",
    paths: [
      "chat",
      "completions",
      "embeddings",
      "models",
      "rerank",
      "moderations",
      "images",
      "messages",
      "audio",
      "responses",
    ],
  },
  {
    name: "Files",
    description: "Large inputs and outputs; compatible with OpenAI's clients",
    paths: ["files", "batches"],
  },
  { name: "Conversations", description: "Chats whose history the coordinator stores", paths: ["conversations"] },
  {
    name: "Cargos",
    description: "The catalog, and Cargos of your own",
    paths: ["cargos", "account/cargos", "availability"],
  },
  {
    name: "Account",
    description: "Credits, keys and sessions",
    paths: ["account", "api-keys", "auth", "sessions", "events"],
  },
  { name: "Islands", description: "For hosts", paths: ["island", "islands", "island-tokens"] },
  { name: "Operator", description: "For who runs the network: a session of an operator", paths: ["operator"] },
  {
    name: "Service",
    description: "About the coordinator itself",
    paths: ["announcements", "downloads", "health", "metrics", "network", "openapi.json", "docs"],
  },
] as const;

export type Tag = (typeof TAGS)[number]["name"];

export const WEBHOOK_TAG = "Webhooks";

export const TAGS_DOC = [
  ...TAGS.map(({ name, description }) => ({ name, description })),
  { name: WEBHOOK_TAG, description: "Requests that the coordinator sends to the webhook_url of a job or batch" },
];

/** The tag with the longest matching prefix. @throws {Error} if there is none. */
export function tagOf(path: string): Tag {
  const below = path.slice(API_BASE.length + 1);
  const candidates = TAGS.flatMap(({ name, paths }) => paths.map((start) => ({ name, start })))
    .filter(({ start }) => below === start || below.startsWith(`${start}/`))
    .sort((a, b) => b.start.length - a.start.length);
  const [closest] = candidates;
  if (closest === undefined) throw new Error(`No tag for ${path}`);
  return closest.name;
}
