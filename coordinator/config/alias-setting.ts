import { cargoSlugSchema } from "../../shared/cargo.ts";
import type { Setting } from "../../shared/settings.ts";

const MAX_ALIASES = 200;
/** Names as other services have them: `gpt-4o-mini`, `claude-sonnet-4@20250514`, `meta-llama/Llama-3.1:free`. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$/;

/** Names of Cargos by other names for them: a table in the file, `name=slug,name=slug` in a flag or variable. */
export const MODEL_ALIASES_SETTING: Setting<ReadonlyMap<string, string>> = {
  key: "model_aliases",
  meaning: "Other names for Cargos, such as gpt-4o-mini, by which clients may ask for them",
  allowed: `a table (in text: name=slug,…) of at most ${MAX_ALIASES} names of 1 to 100 letters, digits and . _ : / @ -, each with a slug`,
  fallback: "",
  unsetMeans: "llm-chat and sdxl alone",
  isSecret: false,
  isHidden: false,
  isTable: true,
  fromText: (text) => text,
  check(native) {
    // Not yet known to be texts; checked below.
    const pairs = typeof native === "string" ? pairsOf(native) : pairsOfTable(native);
    if (pairs === undefined) return undefined;
    const aliases = new Map<string, string>();
    for (const [name, slug] of pairs) {
      if (!NAME.test(name) || !cargoSlugSchema.safeParse(slug).success || aliases.has(name)) return undefined;
      aliases.set(name, slug);
    }
    return aliases.size <= MAX_ALIASES ? aliases : undefined;
  },
};

function pairsOf(text: string): (readonly [string, string])[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      return at === -1 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });
}

function pairsOfTable(native: unknown): [string, string][] | undefined {
  return typeof native === "object" && native !== null && !Array.isArray(native)
    ? Object.entries(native as Record<string, string>)
    : undefined;
}
