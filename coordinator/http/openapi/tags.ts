import { API_BASE } from "../http-deps.ts";

/** Groups of operations in the order in which the document lists them, and the first parts of their paths. */
const TAGS = [
  { name: "Jobs", description: "Work that is submitted now and fetched later", paths: ["jobs"] },
  { name: "Chat", description: "In the shape that OpenAI's clients speak", paths: ["chat", "embeddings", "models"] },
  { name: "Conversations", description: "Chats whose history is kept here", paths: ["conversations"] },
  { name: "Cargos", description: "The catalog, and Cargos of one's own", paths: ["cargos", "account/cargos"] },
  { name: "Account", description: "Credits, keys and sessions", paths: ["account", "api-keys", "auth"] },
  { name: "Islands", description: "For hosts", paths: ["island"] },
  {
    name: "Service",
    description: "About the coordinator itself",
    paths: ["health", "metrics", "openapi.json", "docs"],
  },
] as const;

export const WEBHOOK_TAG = "Webhooks";

export const TAGS_DOC = [
  ...TAGS.map(({ name, description }) => ({ name, description })),
  { name: WEBHOOK_TAG, description: "What the coordinator posts to the webhook_url of a job or batch" },
];

/** @throws {Error} for a path that no tag has. */
export function tagOf(path: string): string {
  const below = path.slice(API_BASE.length + 1);
  const candidates = TAGS.flatMap(({ name, paths }) => paths.map((start) => ({ name, start })))
    .filter(({ start }) => below === start || below.startsWith(`${start}/`))
    .sort((a, b) => b.start.length - a.start.length);
  const [closest] = candidates;
  if (closest === undefined) throw new Error(`No tag for ${path}`);
  return closest.name;
}
