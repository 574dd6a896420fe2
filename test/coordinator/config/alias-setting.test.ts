import { expect, it } from "vitest";
import { resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { ConfigError } from "../../../shared/settings.ts";

function aliases({ env = {}, toml }: { env?: Record<string, string>; toml?: string }) {
  const file = toml === undefined ? null : { name: "atoll.toml", text: toml };
  return resolveConfig({ flags: {}, env, toml: file, shippedCatalogDirectory: "/shipped" }).modelAliases;
}

it("model_aliases accepts either form of table in the file and pairs in a variable, with dots in names", () => {
  const both = new Map([
    ["gpt-4.1", "tiny-chat"],
    ["meta/llama:free", "phi-4"],
  ]);
  expect(aliases({ toml: '[model_aliases]\n"gpt-4.1" = "tiny-chat"\n"meta/llama:free" = "phi-4"' })).toEqual(both);
  expect(aliases({ toml: 'model_aliases = {"gpt-4.1" = "tiny-chat", "meta/llama:free" = "phi-4"}' })).toEqual(both);
  expect(aliases({ env: { ATOLL_MODEL_ALIASES: "gpt-4.1=tiny-chat, meta/llama:free = phi-4," } })).toEqual(both);
  expect(aliases({})).toEqual(new Map());
});

it.each([
  ["x", "gpt"],
  ["an empty name", "=tiny-chat"],
  ["a name with a space", "a b=tiny-chat"],
  ["an invalid slug", "gpt=Tiny Chat"],
  ["a duplicate name", "gpt=a,gpt=b"],
  ["too many aliases", Array.from({ length: 201 }, (_, index) => `m${index}=a`).join(",")],
])("model_aliases rejects %s", (_, text) => {
  expect(() => aliases({ env: { ATOLL_MODEL_ALIASES: text } })).toThrow(ConfigError);
});

it("model_aliases rejects an alias in the file whose target is not a slug", () => {
  expect(() => aliases({ toml: "model_aliases = {gpt = 4}" })).toThrow(/model_aliases/);
  expect(() => aliases({ toml: "model_aliases = 4" })).toThrow(/model_aliases/);
  expect(() => aliases({ toml: 'model_aliases = ["a"]' })).toThrow(/model_aliases/);
});
