import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const SHIPPED_CATALOG = join(import.meta.dirname, "..", "..", "catalog");
/** Shipped Cargos of several kinds that tests run by name. */
const SLUGS = [
  "tiny-chat",
  "phi-4",
  "llama-3.2-1b-instruct",
  "multilingual-e5-small",
  "toxic-bert",
  "tiny-picture",
  "supertonic-tts-2",
  "base64",
  "text-statistics",
  "python-sandbox",
];

let made: string | undefined;

/**
 * A catalog with a few of the shipped Cargos and all of their models. A coordinator checks and compiles the schemas of its whole
 * catalog at each start, which takes half of it; made once in a process.
 */
export function smallCatalog(): string {
  made ??= makeCatalog(SLUGS);
  return made;
}

/** A catalog with some of the shipped Cargos and all of their models, gone when the process ends. `change`: fields of every Cargo. */
export function makeCatalog(slugs: readonly string[], change: object = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "atoll-catalog-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "cargos"));
  for (const slug of slugs) {
    const name = join("cargos", `${slug}.json`);
    // Without the reason why it is not pinned, a Cargo is offered, as in a catalog of the operator's own.
    const { unpinned_reason: _, ...file } = JSON.parse(readFileSync(join(SHIPPED_CATALOG, name), "utf8"));
    writeFileSync(join(directory, name), JSON.stringify({ ...file, ...change }));
  }
  symlinkSync(join(SHIPPED_CATALOG, "models"), join(directory, "models"), "junction");
  return directory;
}
