/**
 * Titles of the tests of a client, and columns of the table in test/clients/README.md. A client without the feature has
 * no such test.
 */
export const FEATURES = [
  "chat",
  "stream",
  "tool loop",
  "structured output",
  "abort",
  "wrong key",
  "unknown model",
  "over the context",
  "429",
  "embeddings",
  "rerank",
  "models",
] as const;
