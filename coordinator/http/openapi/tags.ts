/** What the document says of each group of operations, in its order. */
const TAGS = {
  Jobs: "Submit work now, fetch the result later",
  Chat: "Compatible with OpenAI's clients",
  Files: "Large inputs and outputs; compatible with OpenAI's clients",
  Conversations: "Chats whose history the coordinator stores",
  Cargos: "The catalog, and Cargos of your own",
  Account: "Credits, keys and sessions",
  Islands: "For hosts",
  Operator: "For who runs the network: a session of an operator",
  Service: "About the coordinator itself",
  Webhooks: "Requests that the coordinator sends to the webhook_url of a job or batch",
};

export type Tag = keyof typeof TAGS;

export const TAGS_DOC = Object.entries(TAGS).map(([name, description]) => ({ name, description }));
