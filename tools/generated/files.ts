import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pythonTypes } from "../../sdk/python/tools/openapi-python.ts";
import { openApiTypes } from "../../sdk/typescript/tools/openapi-types.ts";
import { currentDocument, requestParameters } from "./api.ts";
import { withParameterTables } from "./parameter-tables.ts";
import { coordinatorSettingsPage, islandSettingsPage } from "./settings-pages.ts";

export const ROOT = join(import.meta.dirname, "..", "..");
const PYTHON = join("sdk", "python", "src", "atoll_client");
/** The document with the tables of parameters. */
const PARAMETERS = join("docs", "openai.md");

/** What the generated files should be now, by their paths in the repository. */
export async function currentFiles(): Promise<Readonly<Record<string, string>>> {
  const document = currentDocument();
  const files = {
    [PARAMETERS]: withParameterTables(await readFile(join(ROOT, PARAMETERS), "utf8"), requestParameters()),
    [join("docs", "operate", "settings.md")]: coordinatorSettingsPage(),
    [join("docs", "host", "settings.md")]: islandSettingsPage(),
    [join("sdk", "typescript", "src", "openapi.ts")]: await openApiTypes(document),
  };
  for (const [name, source] of Object.entries(pythonTypes(document))) files[join(PYTHON, name)] = source;
  return files;
}
