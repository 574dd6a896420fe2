import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pythonTypes } from "../../sdk/python/tools/openapi-python.ts";
import { openApiTypes } from "../../sdk/typescript/tools/openapi-types.ts";
import { currentDocument, requestParameters } from "./api.ts";
import { withErrorTables } from "./error-tables.ts";
import { withMetricTables } from "./metric-tables.ts";
import { operationTexts, withOperationTexts, type Operations } from "./operation-sections.ts";
import { coordinatorSettingsPage, islandSettingsPage } from "./settings-pages.ts";

export const ROOT = join(import.meta.dirname, "..", "..");
const PYTHON = join("sdk", "python", "src", "atoll_client");
/** The documents that contain texts of operations. */
const REFERENCES = ["openai.md", "anthropic.md"].map((name) => join("docs", "reference", name));
/** The document that contains the tables of error codes. */
const ERRORS = join("docs", "use", "errors-and-limits.md");
/** The document that contains the tables of metrics. */
const METRICS = join("docs", "operate", "monitoring.md");

/** Returns the current content of the generated files, by their paths in the repository. */
export async function currentFiles(): Promise<Readonly<Record<string, string>>> {
  const document = currentDocument();
  const texts = operationTexts(document as Operations, requestParameters());
  const files: Record<string, string> = {
    [ERRORS]: withErrorTables(await readFile(join(ROOT, ERRORS), "utf8")),
    [METRICS]: withMetricTables(await readFile(join(ROOT, METRICS), "utf8")),
    [join("docs", "operate", "settings.md")]: coordinatorSettingsPage(),
    [join("docs", "host", "settings.md")]: islandSettingsPage(),
    [join("sdk", "typescript", "src", "openapi.ts")]: await openApiTypes(document),
  };
  for (const path of REFERENCES) files[path] = withOperationTexts(await readFile(join(ROOT, path), "utf8"), texts);
  for (const [name, source] of Object.entries(pythonTypes(document))) files[join(PYTHON, name)] = source;
  return files;
}
