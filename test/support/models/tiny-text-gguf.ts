import { encodeGguf, type GgufTensor, type GgufValue } from "./gguf-file.ts";
import { Random } from "../random.ts";

/** Words that have a token. Other words are split into letters. */
const WORDS = ["the", "cat", "sleeps", "dog", "barks", "stocks", "fell", "today", "island", "sea"];
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
/** Prefix of tokens at the start of a word. */
const WORD_START = "\u2581";
const POOLING = { mean: 1, rank: 4 };
const WIDTH = 32;
const LAYERS = 2;
const HEADS = 4;

export interface TinyTextGgufOptions {
  /** `rank` makes a cross-encoder that outputs a score. */
  readonly pooling?: keyof typeof POOLING;
  readonly contextTokens?: number;
  readonly seed?: number;
}

/** Encodes a GGUF file of a small BERT with random weights, which assigns each text a distinct vector or score. */
export function makeTinyTextGguf({ pooling = "mean", contextTokens = 64, seed = 1 }: TinyTextGgufOptions = {}): Buffer {
  const letters = Array.from("abcdefghijklmnopqrstuvwxyz0123456789.,?!");
  const vocabulary = [...SPECIAL, ...[...WORDS, ...letters].map((word) => WORD_START + word), ...letters];
  const random = new Random(seed);
  const filled = (name: string, dims: readonly number[], around = 0): GgufTensor => ({
    name,
    dims,
    data: Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => around + (random.next() - 0.5) * 0.6),
  });
  const norm = (name: string): GgufTensor[] => [filled(`${name}.weight`, [WIDTH], 1), filled(`${name}.bias`, [WIDTH])];
  const linear = (name: string, from: number, to: number): GgufTensor[] => [
    filled(`${name}.weight`, [from, to]),
    filled(`${name}.bias`, [to]),
  ];
  const blocks = Array.from({ length: LAYERS }, (_, layer) => `blk.${layer}.`).flatMap((block) => [
    ...["attn_q", "attn_k", "attn_v", "attn_output"].flatMap((name) => linear(block + name, WIDTH, WIDTH)),
    ...norm(`${block}attn_output_norm`),
    ...linear(`${block}ffn_up`, WIDTH, 2 * WIDTH),
    ...linear(`${block}ffn_down`, 2 * WIDTH, WIDTH),
    ...norm(`${block}layer_output_norm`),
  ]);
  const tensors = [
    filled("token_embd.weight", [WIDTH, vocabulary.length]),
    filled("position_embd.weight", [WIDTH, contextTokens]),
    filled("token_types.weight", [WIDTH, 2]),
    ...norm("token_embd_norm"),
    ...blocks,
    ...(pooling === "rank" ? [...linear("cls", WIDTH, WIDTH), ...linear("cls.output", WIDTH, 1)] : []),
  ];
  return encodeGguf({ ...architecture(pooling, contextTokens), ...tokenizer(vocabulary) }, tensors);
}

function architecture(pooling: keyof typeof POOLING, contextTokens: number): Record<string, GgufValue> {
  return {
    "general.architecture": { type: "string", value: "bert" },
    "bert.context_length": { type: "uint32", value: contextTokens },
    "bert.embedding_length": { type: "uint32", value: WIDTH },
    "bert.block_count": { type: "uint32", value: LAYERS },
    "bert.feed_forward_length": { type: "uint32", value: 2 * WIDTH },
    "bert.attention.head_count": { type: "uint32", value: HEADS },
    "bert.attention.layer_norm_epsilon": { type: "float32", value: 1e-12 },
    "bert.attention.causal": { type: "bool", value: false },
    "bert.pooling_type": { type: "uint32", value: POOLING[pooling] },
  };
}

function tokenizer(vocabulary: readonly string[]): Record<string, GgufValue> {
  const NORMAL = 1;
  const CONTROL = 3;
  const id = (token: string): GgufValue => ({ type: "uint32", value: vocabulary.indexOf(token) });
  return {
    "tokenizer.ggml.model": { type: "string", value: "bert" },
    "tokenizer.ggml.pre": { type: "string", value: "default" },
    "tokenizer.ggml.token_type_count": { type: "uint32", value: 2 },
    "tokenizer.ggml.tokens": { type: "array", of: "string", value: vocabulary },
    "tokenizer.ggml.token_type": {
      type: "array",
      of: "int32",
      value: vocabulary.map((token) => (SPECIAL.includes(token) ? CONTROL : NORMAL)),
    },
    "tokenizer.ggml.bos_token_id": id("[CLS]"),
    "tokenizer.ggml.eos_token_id": id("[SEP]"),
    "tokenizer.ggml.unknown_token_id": id("[UNK]"),
    "tokenizer.ggml.seperator_token_id": id("[SEP]"),
    "tokenizer.ggml.padding_token_id": id("[PAD]"),
    "tokenizer.ggml.cls_token_id": id("[CLS]"),
    "tokenizer.ggml.mask_token_id": id("[MASK]"),
  };
}
