import { ACCOUNT_EXAMPLES } from "./account-examples.ts";
import { CARGO_EXAMPLES } from "./cargo-examples.ts";
import { CHAT_EXAMPLES } from "./chat-examples.ts";
import type { Example, Examples } from "./example.ts";
import { FILE_EXAMPLES } from "./file-examples.ts";
import { ISLAND_EXAMPLES } from "./island-examples.ts";
import { JOB_EXAMPLES } from "./job-examples.ts";
import { NETWORK_EXAMPLES } from "./network-examples.ts";
import { OPERATOR_EXAMPLES } from "./operator-examples.ts";
import { RESPONSE_EXAMPLES } from "./response-examples.ts";

const EXAMPLES: Examples = {
  ...JOB_EXAMPLES,
  ...CHAT_EXAMPLES,
  ...RESPONSE_EXAMPLES,
  ...FILE_EXAMPLES,
  ...CARGO_EXAMPLES,
  ...ACCOUNT_EXAMPLES,
  ...ISLAND_EXAMPLES,
  ...OPERATOR_EXAMPLES,
  ...NETWORK_EXAMPLES,
};

/** Empty for an operation without an example. */
export function exampleOf(operationId: string): Example {
  return EXAMPLES[operationId] ?? {};
}
