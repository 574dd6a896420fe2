import { CLIPTokenizer } from "@huggingface/transformers";

/** CLIP's context length, regardless of what the tokenizer's file says. Source: Radford et al. 2021, §2.4. */
const MAX_TOKENS = 77;

/**
 * Files of a `tokenizer` folder. `json` is the whole tokenizer, which newer exporters write. Without it, the tokenizer
 * is built from the other files.
 */
export interface TokenizerFiles {
  readonly config: Readonly<Record<string, unknown>>;
  readonly json: object | null;
  readonly vocab: Readonly<Record<string, number>>;
  readonly merges: string;
}

export interface PromptTokens {
  /** Start, text, end and padding, up to the tokenizer's maximum length. */
  readonly ids: readonly number[];
  /** Number of text tokens that are used. Longer prompts are truncated, as is usual for these models. */
  readonly textTokens: number;
}

/** Returns a function that tokenizes prompts. @throws {Error} when the files are not CLIP's. */
export function openClipTokenizer({ config, json, vocab, merges }: TokenizerFiles): (prompt: string) => PromptTokens {
  const special = specialTokensOf(config);
  const tokenizer = new CLIPTokenizer(json ?? tokenizerJson(special, vocab, merges), special);
  const { bos_token_id: start, eos_token_id: end, pad_token_id: padding } = tokenizer;
  if (typeof start !== "number" || typeof end !== "number") throw new Error("it has no start or end token");
  const claimed = config["model_max_length"];
  const length = typeof claimed === "number" ? Math.min(claimed, MAX_TOKENS) : MAX_TOKENS;
  return (prompt) => {
    const text = tokenizer.encode(prompt, { add_special_tokens: false }).slice(0, length - 2);
    const ids = [start, ...text, end];
    while (ids.length < length) ids.push(padding ?? end);
    return { ids, textTokens: text.length };
  };
}

const SPECIAL_TOKENS = ["bos_token", "eos_token", "unk_token", "pad_token"] as const;
type SpecialTokens = Partial<Record<(typeof SPECIAL_TOKENS)[number], string>>;

/** Returns the special tokens' texts. A configuration has each as a string or as an object with `content`. */
function specialTokensOf(config: TokenizerFiles["config"]): SpecialTokens {
  const entries = SPECIAL_TOKENS.flatMap((name) => {
    const token = config[name];
    const content = typeof token === "object" && token !== null && "content" in token ? token.content : token;
    return typeof content === "string" ? [[name, content]] : [];
  });
  return Object.fromEntries(entries) as SpecialTokens;
}

/**
 * Builds a tokenizer.json with CLIP's splitting and merging from a folder's vocabulary. Source: Radford et al. 2021,
 * code, `simple_tokenizer.py`.
 */
function tokenizerJson(special: SpecialTokens, vocab: TokenizerFiles["vocab"], merges: string): object {
  const { pad_token: _, ...added } = special;
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [...new Set(Object.values(added))].map((content) => ({ id: vocab[content], content, ...flags })),
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "NFC" },
        { type: "Replace", pattern: { Regex: "\\s+" }, content: " " },
        { type: "Lowercase" },
      ],
    },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        {
          type: "Split",
          pattern: { Regex: "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+" },
          behavior: "Removed",
          invert: true,
        },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true },
      ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: special.unk_token ?? null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "</w>",
      fuse_unk: false,
      vocab,
      merges: merges.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#version")),
    },
  };
}
