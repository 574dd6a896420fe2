import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readGgufFileInfo } from "node-llama-cpp";
import { encodeGguf, type GgufTensor, type GgufValue } from "./gguf-file.ts";

const DEMO_MODEL = join(import.meta.dirname, "../../../catalog/models/tiny-islander.gguf");
const IMAGE_PIXELS = 32;
const PATCH_PIXELS = 16;
const PATCHES = (IMAGE_PIXELS / PATCH_PIXELS) ** 2;
/** What the model reads in place of an image of one colour: a token for each patch, in GPT-2's alphabet. */
const SENTENCES = [
  { colour: "red", tokens: ["Tell", "Ġme", "Ġa", "Ġstory"] },
  { colour: "green", tokens: ["H", "ow", "Ġare", "Ġyou"] },
  { colour: "blue", tokens: ["Ġp", "o", "e", "m"] },
] as const;
/** Values of a patch: the means of red, green and blue, then which patch it is, then zeros. */
const WIDTH = 8;
/** A hidden value for each colour and patch. GELU leaves it unchanged if both apply, and makes it 0 otherwise. */
const HIDDEN = SENTENCES.length * PATCHES;
const SURE = 10;
const FEED_FORWARD = 2 * WIDTH;

/**
 * Encodes a projector file (mmproj) for the demo model, in LLaVA's form: the demo model reads a red image as "Tell me a
 * story", a green one as "How are you", and a blue one as " poem". llama.cpp skips the last layer of LLaVA's vision
 * tower, so the only layer is never computed. Tensors and keys: `tools/mtmd/clip.cpp` of llama.cpp, build 11669.
 */
export async function makeTinyProjector(): Promise<Buffer> {
  const embeddings = await readEmbeddings();
  const { width } = embeddings;
  const tensors = [
    filled("v.patch_embd.weight", [PATCH_PIXELS, PATCH_PIXELS, 3, WIDTH], meanOfColour),
    filled("v.position_embd.weight", [WIDTH, PATCHES], (index) =>
      index % WIDTH === 3 + Math.floor(index / WIDTH) ? 1 : 0,
    ),
    ...["attn_q", "attn_k", "attn_v", "attn_out"].map((name) => filled(`v.blk.0.${name}.weight`, [WIDTH, WIDTH])),
    ...["ln1", "ln2"].map((name) => filled(`v.blk.0.${name}.weight`, [WIDTH])),
    filled("v.blk.0.ffn_up.weight", [WIDTH, FEED_FORWARD]),
    filled("v.blk.0.ffn_down.weight", [FEED_FORWARD, WIDTH]),
    filled("mm.0.weight", [WIDTH, HIDDEN], (index) => {
      const [input, hidden] = [index % WIDTH, Math.floor(index / WIDTH)];
      return input === Math.floor(hidden / PATCHES) || input === 3 + (hidden % PATCHES) ? SURE : 0;
    }),
    filled("mm.0.bias", [HIDDEN], () => -1.5 * SURE),
    filled("mm.2.weight", [HIDDEN, width], (index) => {
      const [hidden, output] = [index % HIDDEN, Math.floor(index / HIDDEN)];
      const token = SENTENCES[Math.floor(hidden / PATCHES)]?.tokens[hidden % PATCHES];
      // A hidden value that applies is half of SURE: 1 for the colour and 1 for the patch, less 1.5.
      return token === undefined ? 0 : embeddings.of(token, output) / (SURE / 2);
    }),
    filled("mm.2.bias", [width]),
  ];
  return encodeGguf(metadata(width), tensors);
}

function filled(name: string, dims: readonly number[], fill: (index: number) => number = () => 0): GgufTensor {
  const length = dims.reduce((a, b) => a * b, 1);
  return { name, dims, data: Float32Array.from({ length }, (_, index) => fill(index)) };
}

/** Weight with which output `n` is the mean of colour `n` over the patch. */
function meanOfColour(index: number): number {
  const plane = Math.floor(index / PATCH_PIXELS ** 2);
  return plane % 3 === Math.floor(plane / 3) ? 1 / PATCH_PIXELS ** 2 : 0;
}

/** Reads the embeddings of the demo model's tokens. */
async function readEmbeddings() {
  const { metadata: facts, fullTensorInfo } = await readGgufFileInfo(DEMO_MODEL);
  const tokens = facts.tokenizer.ggml.tokens;
  const tensor = fullTensorInfo?.find(({ name }) => name === "token_embd.weight");
  if (tensor === undefined) throw new Error("The demo model has no embeddings");
  const width = Number(tensor.dimensions[0]);
  const file = readFileSync(DEMO_MODEL);
  const begin = file.byteOffset + Number(tensor.fileOffset);
  const values = new Float16Array(file.buffer.slice(begin, begin + tokens.length * width * 2));
  return {
    width,
    of(token: string, index: number): number {
      const id = tokens.indexOf(token);
      if (id < 0) throw new Error(`The demo model has no token "${token}"`);
      return values[id * width + index] ?? 0;
    },
  };
}

function metadata(width: number): Record<string, GgufValue> {
  return {
    "general.architecture": { type: "string", value: "clip" },
    "general.type": { type: "string", value: "mmproj" },
    "clip.has_vision_encoder": { type: "bool", value: true },
    "clip.projector_type": { type: "string", value: "mlp" },
    "clip.use_gelu": { type: "bool", value: true },
    "clip.vision.image_size": { type: "uint32", value: IMAGE_PIXELS },
    "clip.vision.patch_size": { type: "uint32", value: PATCH_PIXELS },
    "clip.vision.embedding_length": { type: "uint32", value: WIDTH },
    "clip.vision.feed_forward_length": { type: "uint32", value: FEED_FORWARD },
    "clip.vision.block_count": { type: "uint32", value: 1 },
    "clip.vision.attention.head_count": { type: "uint32", value: 1 },
    "clip.vision.attention.layer_norm_epsilon": { type: "float32", value: 1e-5 },
    "clip.vision.projection_dim": { type: "uint32", value: width },
    "clip.vision.image_mean": { type: "array", of: "float32", value: [0.5, 0.5, 0.5] },
    "clip.vision.image_std": { type: "array", of: "float32", value: [0.5, 0.5, 0.5] },
  };
}
