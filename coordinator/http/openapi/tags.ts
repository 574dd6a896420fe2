/** What the document says of each group of operations, in its order. */
const TAGS = {
  Jobs: "Submit work now, fetch the result later",
  Chat: "Chats, completions, embeddings, images and audio; compatible with OpenAI's and Anthropic's clients",
  Files: "Large inputs and outputs; compatible with OpenAI's clients",
  Conversations: "Chats whose history the coordinator stores",
  Cargos: "The catalog, and your own Cargos",
  Account: "Credits, keys and sessions",
  Islands: "Hosting: Islands, their tokens and their earnings",
  Operator: "Operating the network; needs a session of an operator",
  Service: "Health, metrics, downloads and this document",
  Webhooks: "Requests that the coordinator sends to the `webhook_url` of a job or batch",
};

export type Tag = keyof typeof TAGS;

export const TAGS_DOC = Object.entries(TAGS).map(([name, description]) => ({ name, description }));
