import type { DefaultSlugs } from "../config/default-cargo-settings.ts";

/**
 * The operator's aliases, and the names that the SDKs of the public product ask for by themselves, unless the operator gave these to other
 * Cargos. One whose Cargo is not offered stands for nothing.
 */
export function withUsualAliases(
  own: ReadonlyMap<string, string>,
  defaults: Pick<DefaultSlugs, "chat">,
): ReadonlyMap<string, string> {
  const usual = { "llm-chat": defaults.chat, sdxl: "stable-diffusion-xl-base-1.0" };
  return new Map([...own, ...Object.entries(usual).filter(([name]) => !own.has(name))]);
}
