import { AT, JOB_ID, LATER, type Examples } from "./example.ts";

const CONVERSATION_ID = "conv_01JGFJJZ00000000000000000D";
const USAGE = { prompt_tokens: 11, completion_tokens: 13, total_tokens: 24 };

const CONVERSATION = {
  id: CONVERSATION_ID,
  title: "Counting",
  model: "tiny-chat",
  system_prompt: "You count.",
  metadata: { customer: "42" },
  created_at: AT,
  updated_at: AT,
};
const QUESTION = {
  id: "msg_01JGFJJZ00000000000000000E",
  role: "user",
  content: "Count to 3.",
  status: "completed",
  job_id: null,
  finish_reason: null,
  error: null,
  created_at: AT,
  completed_at: AT,
};
const ANSWER = {
  ...QUESTION,
  id: "msg_01JGFJJZ00000000000000000F",
  role: "assistant",
  content: "1, 2, 3.",
  job_id: JOB_ID,
  finish_reason: "stop",
  completed_at: LATER,
};
const MODEL = {
  id: "tiny-chat",
  object: "model",
  created: 1_789_000_000,
  owned_by: "atoll",
  type: "chat",
  capabilities: ["/chat/completions", "/completions", "/messages", "/responses"],
  alias_of: null,
  is_default: true,
  available: true,
  ready: true,
  free: 2,
  pricing: { per_job: 1.5, unit: "credits" },
  context_length: 512,
  max_output_tokens: 512,
  tokens_per_second: 41.5,
  first_token_ms: 230,
  tool_calls: "grammar",
  reasoning: false,
};

const NOT_HARASSMENT = [
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/instructions",
  "self-harm/intent",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
];
const eachOther = (value: unknown) => Object.fromEntries(NOT_HARASSMENT.map((name) => [name, value]));

export const CHAT_EXAMPLES: Examples = {
  createChatCompletion: {
    request: {
      model: "tiny-chat",
      messages: [
        { role: "system", content: "You count." },
        { role: "user", content: "Count to 3." },
      ],
      temperature: 0,
      stream: false,
    },
    response: {
      id: JOB_ID,
      object: "chat.completion",
      created: 1_767_268_800,
      model: "tiny-chat",
      choices: [
        { index: 0, message: { role: "assistant", content: "1, 2, 3." }, logprobs: null, finish_reason: "stop" },
      ],
      usage: { ...USAGE, cost: 1.5 },
    },
  },
  createCompletion: {
    request: { model: "tiny-chat", prompt: "An atoll is a ring of", max_tokens: 4 },
    response: {
      id: "job_01M80NFE2BATGX5PX4TK97HXWA",
      object: "text_completion",
      created: 1_767_225_600,
      model: "tiny-chat",
      choices: [{ index: 0, text: " islands.", logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, cost: 1.5 },
    },
  },
  createMessage: {
    request: { model: "tiny-chat", max_tokens: 20, messages: [{ role: "user", content: "What is 7 plus 8?" }] },
    response: {
      id: "job_01M80NFE2BATGX5PX4TK97HXWA",
      type: "message",
      role: "assistant",
      model: "tiny-chat",
      content: [{ type: "text", text: "15" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 17,
        output_tokens: 2,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        cost: 1.5,
      },
    },
  },
  countMessageTokens: {
    request: { model: "tiny-chat", messages: [{ role: "user", content: "What is 7 plus 8?" }] },
    response: { input_tokens: 17 },
  },
  createEmbeddings: {
    request: { model: "multilingual-e5-small", input: ["an atoll", "a ring of islands"] },
    response: {
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [0.25, -0.5, 0.125] },
        { object: "embedding", index: 1, embedding: [0.25, -0.25, 0.5] },
      ],
      model: "multilingual-e5-small",
      usage: { prompt_tokens: 9, total_tokens: 9 },
    },
  },
  createReranking: {
    request: {
      model: "multilingual-e5-small",
      query: "Where do ships wait?",
      documents: ["A reef breaks the waves.", "Ships lie in the harbour until the tide turns."],
      top_n: 1,
      return_documents: true,
    },
    response: {
      id: JOB_ID,
      object: "list",
      model: "multilingual-e5-small",
      results: [
        {
          index: 1,
          relevance_score: 0.91,
          document: { text: "Ships lie in the harbour until the tide turns." },
        },
      ],
      usage: { prompt_tokens: 24, total_tokens: 24 },
      meta: { tokens: { input_tokens: 24, output_tokens: 0 } },
    },
  },
  createModeration: {
    request: { model: "toxic-bert", input: "You are a fool." },
    response: {
      id: JOB_ID,
      model: "toxic-bert",
      results: [
        {
          flagged: true,
          categories: { harassment: true, ...eachOther(false) },
          category_scores: { harassment: 0.98, ...eachOther(0) },
          category_applied_input_types: { harassment: ["text"], ...eachOther([]) },
          labels: [{ label: "toxic", score: 0.98 }],
        },
      ],
    },
  },
  createImages: {
    request: { model: "tiny-picture", prompt: "a red ring on blue", size: "64x64", seed: 7 },
    response: {
      created: 1_767_268_800,
      data: [{ b64_json: "iVBORw0KGgo=" }],
      output_format: "png",
      usage: {
        input_tokens: 14,
        input_tokens_details: { text_tokens: 14, image_tokens: 0 },
        output_tokens: 0,
        total_tokens: 14,
      },
    },
  },
  createSpeech: {
    request: { model: "supertonic-tts-2", input: "The tide comes in at noon.", voice: "F1", response_format: "mp3" },
  },
  createTranscription: {
    response: { text: "The tide comes in at noon.", usage: { type: "duration", seconds: 3 } },
  },
  createTranslation: {
    response: { text: "The tide comes in at noon.", usage: { type: "duration", seconds: 3 } },
  },
  listModels: { response: { object: "list", data: [MODEL] } },
  getModel: { response: MODEL },
  createConversation: {
    request: { title: "Counting", model: "tiny-chat", system_prompt: "You count.", metadata: { customer: "42" } },
    response: { data: CONVERSATION },
  },
  listConversations: { response: { data: [CONVERSATION], meta: { total: 1, limit: 20, offset: 0 } } },
  getConversation: {
    response: { data: { ...CONVERSATION, messages: [QUESTION, ANSWER] }, meta: { total: 2, limit: 100, offset: 0 } },
  },
  updateConversation: { request: { title: "Numbers" }, response: { data: { ...CONVERSATION, title: "Numbers" } } },
  deleteConversation: { response: { data: { id: CONVERSATION_ID, deleted: true } } },
  postMessage: {
    request: { content: "Count to 3.", max_tokens: 64, stream: false },
    response: {
      data: {
        message: ANSWER,
        user_message: QUESTION,
        job_id: JOB_ID,
        usage: { ...USAGE, credits_used: 1.5 },
      },
    },
  },
};
