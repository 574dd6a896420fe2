import type { Examples } from "./example.ts";

const ID = "resp_01M80NFE2BATGX5PX4TK97HXWA";

const RESPONSE = {
  id: ID,
  object: "response",
  created_at: 1_767_225_600,
  status: "completed",
  background: false,
  error: null,
  incomplete_details: null,
  instructions: "You count.",
  max_output_tokens: null,
  metadata: {},
  model: "tiny-chat",
  output: [
    {
      id: "msg_01M80NFE2BATGX5PX4TK97HXWA",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "15", annotations: [], logprobs: [] }],
    },
  ],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: null,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: "disabled",
  usage: {
    input_tokens: 17,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 19,
    cost: 1.5,
  },
};

export const RESPONSE_EXAMPLES: Examples = {
  createResponse: {
    request: { model: "tiny-chat", instructions: "You count.", input: "What is 7 plus 8?" },
    response: RESPONSE,
  },
  getResponse: { response: RESPONSE },
  deleteResponse: { response: { id: ID, object: "response", deleted: true } },
  cancelResponse: { response: { ...RESPONSE, status: "cancelled", background: true, output: [], usage: null } },
};
