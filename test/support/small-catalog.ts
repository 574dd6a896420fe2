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
 * Returns a catalog with a few of the shipped Cargos and their models. It halves the start of a coordinator, which
 * checks and compiles all schemas of its catalog. It is created once per process.
 */
export function smallCatalog(): string {
  made ??= makeCatalog(SLUGS);
  return made;
}

/**
 * Creates a catalog with some of the shipped Cargos and their models, which is deleted at the end of the process.
 * `change` overrides fields of every Cargo.
 */
export function makeCatalog(slugs: readonly string[], change: object = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "atoll-catalog-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "cargos"));
  for (const slug of slugs) {
    const name = join("cargos", `${slug}.json`);
    // Without `unpinned_reason` a Cargo is offered, as in an operator's catalog.
    const { unpinned_reason: _, ...file } = JSON.parse(readFileSync(join(SHIPPED_CATALOG, name), "utf8"));
    writeFileSync(join(directory, name), JSON.stringify({ ...file, ...change }));
  }
  symlinkSync(join(SHIPPED_CATALOG, "models"), join(directory, "models"), "junction");
  return directory;
}
