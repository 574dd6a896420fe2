import type { OpenAI } from "openai";
import { completeWith } from "../scripted-chats.ts";
import { describeParameters } from "./parameter-cases.ts";

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.CompletionCreateParams]: unknown }> = {
  model: "second",
  prompt: "b",
  max_tokens: 7,
  temperature: 0,
  top_p: 0.5,
  stop: ["."],
  seed: 4,
  frequency_penalty: 1,
  presence_penalty: 1,
  logit_bias: { 5: 3 },
  echo: true,
  stream: true,
  stream_options: { include_usage: true },
  suffix: "c",
  n: 2,
  best_of: 2,
  logprobs: 1,
  user: "someone",
};

describeParameters({
  endpoint: "POST /completions",
  base: { model: "tiny", prompt: "a" },
  samples: {
    ...OFFICIAL,
    top_k: 3,
    min_p: 0.1,
    repeat_penalty: 1.2,
    "stream_options.include_usage": { include_usage: true },
    "stream_options.include_obfuscation": { include_obfuscation: true },
  },
  context: {
    stream_options: { stream: true },
    "stream_options.include_usage": { stream: true },
    "stream_options.include_obfuscation": { stream: true },
  },
  arrange: (api) => completeWith(api, "Hel", "lo"),
});
