const part = { type: "string", minLength: 900, maxLength: 1_000 } as const;

/**
 * Makes the demo model generate 900 tokens, which takes one or two seconds. A story ends after 50 ms, before the
 * coordinator notices that a client has disconnected.
 */
export const LONG_COMPLETION_SCHEMA = {
  type: "object",
  properties: { one: part, two: part, three: part, four: part },
  required: ["one", "two", "three", "four"],
  additionalProperties: false,
} as const;

/** Value for `response_format` of a chat. */
export const LONG_COMPLETION = {
  type: "json_schema",
  json_schema: { name: "story", schema: LONG_COMPLETION_SCHEMA },
} as const;
