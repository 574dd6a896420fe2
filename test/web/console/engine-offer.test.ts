import { describe, expect, it } from "vitest";
import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import {
  offeredCargo,
  proposedSlug,
  shortName,
  USES,
  type EngineModel,
} from "../../../web/src/pages/host/engine-offer.ts";

const MODEL: EngineModel = {
  name: "Qwen3:8b",
  declared: true,
  cargos: [],
  context_length: 8_192,
  parameters: "8B",
  quantization: "Q4_K_M",
  busy: false,
};
const TYPED: Readonly<Record<string, string>> = {
  slug: "declared-qwen3-8b",
  name: "Qwen 3",
  licence: "Apache-2.0",
  price_per_job: "0.05",
  context_tokens: "4096",
  use: "chats",
};
const offer = (model: Partial<EngineModel>, typed: Readonly<Record<string, string>> = {}) =>
  offeredCargo({ ...MODEL, ...model }, (name) => ({ ...TYPED, ...typed })[name] ?? "");

describe("offeredCargo()", () => {
  it.each(USES.map(({ label }) => label))("makes a Cargo for %s that the catalog accepts", (use) => {
    const given = Object.entries(offer({}, { use })).filter(([, value]) => value !== null);
    expect(readCargo(Object.fromEntries(given))).toMatchObject({
      file: { model: { url: "engine:Qwen3:8b" }, context_tokens: 4_096, parameters: "8B", quantization: "Q4_K_M" },
    });
  });

  it("leaves out facts in a form that the catalog does not accept", () => {
    expect(offer({ parameters: "8.03 billion", quantization: "" })).toMatchObject({
      parameters: null,
      quantization: null,
    });
  });

  it.each([
    ["price_per_job", "free", "Enter a number such as 0.05"],
    ["context_tokens", "4k", "Enter a number of tokens such as 4096"],
    ["context_tokens", "8193", "The engine has only 8192"],
  ])("refuses the %s %j", (path, value, message) => {
    expect(() => offer({}, { [path]: value })).toThrow(expect.objectContaining({ path, message }) as Error);
  });

  it("refuses more than 4,096 tokens for an engine that does not report its context", () => {
    expect(offer({ context_length: null })).toMatchObject({ context_tokens: 4_096 });
    expect(() => offer({ context_length: null }, { context_tokens: "4097" })).toThrow("Enter at most 4096");
  });
});

it.each([
  ["Qwen3:8b", "declared-qwen3-8b"],
  ["/models/My Model.gguf", "declared-models-my-model.gguf"],
  ["é", "declared-"],
  ["x".repeat(200), `declared-${"x".repeat(91)}`],
])("proposedSlug() turns %j into a slug", (name, slug) => expect(proposedSlug(name)).toBe(slug));

it.each([
  [`sha256:${"ab".repeat(32)}`, "sha256:abababababab…"],
  [`Qwen/Qwen3-8B#${"cd".repeat(20)}`, "Qwen/Qwen3-8B#cdcdcdcdcdcd…"],
  ["qwen3:8b", "qwen3:8b"],
])("shortName() shortens the hash or commit of %s", (name, short) => expect(shortName(name)).toBe(short));
