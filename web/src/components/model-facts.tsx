import type { Cargo } from "@atoll/client";

/** What a declared model means, for people who choose one. */
export const DECLARED_MEANING =
  "Only the name that hosts give this model is known. Nothing proves which model their engines run.";

const ABILITIES: Readonly<Record<Cargo["supported_features"][number], string>> = {
  tools: "tools",
  json_mode: "JSON",
  structured_outputs: "JSON schemas",
  logprobs: "logprobs",
  reasoning: "reasoning",
};

type Facts = Pick<
  Cargo,
  "input_modalities" | "output_modalities" | "supported_features" | "parameters" | "quantization"
>;

/** Describes the kinds of input and output, such as "text → text"; null if only the schemas define them. */
export function describeKinds({ input_modalities: input, output_modalities: output }: Facts): string | null {
  return input.length === 0 ? null : `${input.join(", ")} → ${output.join(", ")}`;
}

/** Lists the abilities of a chat model in words; null if it has none. */
export function describeAbilities({ supported_features: features }: Facts): string | null {
  return features.length === 0 ? null : features.map((name) => ABILITIES[name]).join(", ");
}

/** Describes size and format of the weights, such as "8B, Q4_K_M"; null if both are unknown. */
export function describeWeights({ parameters, quantization }: Pick<Facts, "parameters" | "quantization">) {
  return [parameters, quantization].filter((fact) => fact !== null).join(", ") || null;
}

/** Shows the facts that are known, in one line. */
export function ModelFacts({ of: cargo }: { readonly of: Facts }) {
  const facts = [describeKinds(cargo), describeAbilities(cargo), describeWeights(cargo)];
  const known = facts.filter((fact) => fact !== null);
  return known.length === 0 ? null : <p class="hint">{known.join(" · ")}</p>;
}

export function DeclaredBadge() {
  return (
    <span class="badge waiting" title={DECLARED_MEANING}>
      declared
    </span>
  );
}
