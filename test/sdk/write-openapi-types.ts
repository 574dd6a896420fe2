import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApiTypes } from "../../sdk/typescript/tools/openapi-types.ts";
import { call } from "../support/http.ts";
import { TestCoordinator } from "../support/test-coordinator.ts";

/** Where the generated types stand. */
export const TYPES_FILE = join(import.meta.dirname, "..", "..", "sdk", "typescript", "src", "openapi.ts");

/** The types of the document that this coordinator serves now. */
export async function currentTypes(): Promise<string> {
  await using coordinator = await TestCoordinator.open();
  const { body } = await call(coordinator.url, null, "GET", "/openapi.json");
  return openApiTypes(body);
}

if (import.meta.main) await writeFile(TYPES_FILE, await currentTypes());
