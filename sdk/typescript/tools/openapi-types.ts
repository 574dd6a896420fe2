import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";

const HEAD = `// Generated from the coordinator's OpenAPI document by \`npm run sdk:types\`. Not for editing.\n\n`;

/** The source of src/openapi.ts for an OpenAPI document, parsed. The same document always gives the same text. */
export async function openApiTypes(document: unknown): Promise<string> {
  // A field with a default may be left out of a request, so it is optional here too.
  const nodes = await openapiTS(document as OpenAPI3, { defaultNonNullable: false, alphabetize: true });
  return HEAD + astToString(nodes);
}
