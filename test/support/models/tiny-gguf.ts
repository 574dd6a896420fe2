import { encodeGguf, type GgufTensor, type GgufValue } from "./gguf-file.ts";

/**
 * Options of a GGUF file for tests. The model is a llama with zero weights, for which all tokens are equally likely. At
 * temperature 0 it generates "a" (token 0) without an end. Layout:
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3.
 */
export interface TinyGgufOptions {
  readonly contextTokens?: number;
  /** A larger width makes prompt processing slower. */
  readonly width?: number;
  readonly layers?: number;
  readonly chatTemplate?: string;
  /**
   * Distinct texts of one token each, which the model generates after any prompt at temperature 0, before the end.
   * After any other token the sequence restarts. Texts in angle brackets are tokens of a template, such as `<think>`.
   * The width must be greater than their number by at least two.
   */
  readonly says?: readonly string[];
  /** Which of these tokens are control tokens, whose text is not shown. */
  readonly control?: readonly string[];
  /** Metadata keys to leave out. Without `llama.feed_forward_length`, llama.cpp aborts. */
  readonly without?: readonly string[];
}

const HEADS = 4;
const CHATML =
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

export function makeTinyGguf(options: TinyGgufOptions = {}): Buffer {
  const { contextTokens = 2_048, width = 64, layers = 1, chatTemplate = CHATML } = options;
  const { says = [], control = [], without = [] } = options;
  const vocabulary = [...makeVocabulary(), ...says.map(inAlphabet)];
  const metadata = Object.fromEntries(
    Object.entries({
      ...architecture(contextTokens, width, layers),
      ...tokenizer(vocabulary, chatTemplate, control),
    }).filter(([key]) => !without.includes(key)),
  );
  const tensors = listTensors(vocabulary.length, width, layers);
  return encodeGguf(metadata, says.length === 0 ? tensors : withChain(tensors, vocabulary, says.length, width));
}

function architecture(contextTokens: number, width: number, layers: number): Record<string, GgufValue> {
  return {
    "general.architecture": { type: "string", value: "llama" },
    "llama.context_length": { type: "uint32", value: contextTokens },
    "llama.embedding_length": { type: "uint32", value: width },
    "llama.block_count": { type: "uint32", value: layers },
    "llama.feed_forward_length": { type: "uint32", value: width * 4 },
    "llama.attention.head_count": { type: "uint32", value: HEADS },
    "llama.attention.layer_norm_rms_epsilon": { type: "float32", value: 1e-5 },
  };
}

function tokenizer(
  vocabulary: readonly string[],
  chatTemplate: string,
  control: readonly string[],
): Record<string, GgufValue> {
  const NORMAL = 1;
  const CONTROL = 3;
  const USER_DEFINED = 4;
  return {
    "tokenizer.ggml.model": { type: "string", value: "gpt2" },
    "tokenizer.ggml.pre": { type: "string", value: "gpt-2" },
    "tokenizer.ggml.tokens": { type: "array", of: "string", value: vocabulary },
    "tokenizer.ggml.token_type": {
      type: "array",
      of: "int32",
      value: vocabulary.map((token) => {
        if (token.startsWith("<|") || control.includes(token)) return CONTROL;
        return /^<.+>$/.test(token) ? USER_DEFINED : NORMAL;
      }),
    },
    "tokenizer.ggml.merges": { type: "array", of: "string", value: ["a a"] },
    "tokenizer.ggml.eos_token_id": { type: "uint32", value: vocabulary.indexOf("<|endoftext|>") },
    "tokenizer.chat_template": { type: "string", value: chatTemplate },
  };
}

/** Lists "a" first, then every other byte in GPT-2's alphabet of printable characters, then the special tokens. */
function makeVocabulary(): string[] {
  const bytes = byteAlphabet();
  return ["a", ...bytes.filter((char) => char !== "a"), "aa", "<|endoftext|>", "<|im_start|>", "<|im_end|>"];
}

function inAlphabet(text: string): string {
  const bytes = byteAlphabet();
  return Array.from(Buffer.from(text), (byte) => bytes[byte]).join("");
}

function byteAlphabet(): string[] {
  const isPrintable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let unprintable = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : 256 + unprintable++));
}

/**
 * Makes the model generate the last `length` tokens in order. Each token's embedding raises the logit of the next one.
 */
function withChain(
  tensors: readonly GgufTensor[],
  vocabulary: readonly string[],
  length: number,
  width: number,
): GgufTensor[] {
  if (width < length + 2) throw new Error(`The width ${width} is too small for ${length} generated tokens`);
  const [embeddings, output] = [0, 0].map(() => new Float32Array(width * vocabulary.length)) as [
    Float32Array,
    Float32Array,
  ];
  const first = vocabulary.length - length;
  const SURE = 8;
  for (let token = 0; token < vocabulary.length; token += 1) {
    const dimension = Math.max(0, token - first + 1);
    embeddings[token * width + dimension] = 1;
    if (token >= first) output[token * width + dimension - 1] = SURE;
  }
  output[vocabulary.indexOf("<|endoftext|>") * width + length] = SURE;
  const data: Readonly<Record<string, Float32Array>> = {
    "token_embd.weight": embeddings,
    "output.weight": output,
    "output_norm.weight": new Float32Array(width).fill(1),
  };
  return tensors.map((tensor) => ({
    ...tensor,
    ...(data[tensor.name] && { data: data[tensor.name] as Float32Array }),
  }));
}

function listTensors(vocabulary: number, width: number, layers: number): GgufTensor[] {
  const blocks = Array.from({ length: layers }, (_, layer) =>
    [
      { name: "attn_norm", dims: [width] },
      ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => ({ name, dims: [width, width] })),
      { name: "ffn_norm", dims: [width] },
      { name: "ffn_gate", dims: [width, width * 4] },
      { name: "ffn_up", dims: [width, width * 4] },
      { name: "ffn_down", dims: [width * 4, width] },
    ].map(({ name, dims }) => ({ name: `blk.${layer}.${name}.weight`, dims })),
  );
  return [
    { name: "token_embd.weight", dims: [width, vocabulary] },
    ...blocks.flat(),
    { name: "output_norm.weight", dims: [width] },
    { name: "output.weight", dims: [width, vocabulary] },
  ];
}
