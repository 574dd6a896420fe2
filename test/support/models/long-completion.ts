const part = { type: "string", minLength: 900, maxLength: 1_000 } as const;

/**
 * Keeps the demo model writing for 900 tokens, a second or two: without it a story is over in 50 ms, before a client that leaves is
 * missed.
 */
export const LONG_ANSWER_SCHEMA = {
  type: "object",
  properties: { one: part, two: part, three: part, four: part },
  required: ["one", "two", "three", "four"],
  additionalProperties: false,
} as const;

/** `response_format` of a chat. */
export const LONG_ANSWER = {
  type: "json_schema",
  json_schema: { name: "story", schema: LONG_ANSWER_SCHEMA },
} as const;
