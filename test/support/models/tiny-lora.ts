import { encodeGguf, type GgufTensor } from "./gguf-file.ts";
import { Random } from "../random.ts";

const RANK = 2;

/** A LoRA adapter with random weights for one matrix of a llama. Layout: llama.cpp, convert_lora_to_gguf.py. */
export function makeTinyLora({
  tensor,
  from,
  to,
  architecture = "llama",
}: {
  readonly tensor: string;
  /** Widths of the matrix. */
  readonly from: number;
  readonly to: number;
  readonly architecture?: string;
}): Buffer {
  const random = new Random(5);
  const filled = (name: string, dims: readonly [number, number]): GgufTensor => ({
    name,
    dims,
    data: Float32Array.from({ length: dims[0] * dims[1] }, () => (random.next() - 0.5) * 2),
  });
  return encodeGguf(
    {
      "general.type": { type: "string", value: "adapter" },
      "general.architecture": { type: "string", value: architecture },
      "adapter.type": { type: "string", value: "lora" },
      "adapter.lora.alpha": { type: "float32", value: RANK },
    },
    [filled(`${tensor}.lora_a`, [from, RANK]), filled(`${tensor}.lora_b`, [RANK, to])],
  );
}
