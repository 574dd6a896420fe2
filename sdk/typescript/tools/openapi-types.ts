import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";

const HEAD = `// Generated from the coordinator's OpenAPI document by \`npm run sdk:types\`. Not for editing.\n\n`;

/** The source of src/openapi.ts for an OpenAPI document, parsed. The same document always gives the same text. */
export async function openApiTypes(document: unknown): Promise<string> {
  // A field with a default may be left out of a request, so it is optional here too.
  const nodes = await openapiTS(document as OpenAPI3, { defaultNonNullable: false, alphabetize: true });
  return HEAD + astToString(nodes) + publicOperations(document as OpenAPI3);
}

/** The operations that need no credential, as a call names them. */
function publicOperations({ paths = {} }: OpenAPI3): string {
  const names = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, { readonly security?: readonly object[] }>)
      .filter(
        ([, { security = [] }]) => security.length === 0 || security.some((need) => Object.keys(need).length === 0),
      )
      .map(([method]) => `${method} ${path.replace(/^\/api\/v1/, "")}`),
  );
  const list = names.toSorted().map((name) => `    ${JSON.stringify(name)},\n`);
  return `/** Operations that need no credential. */\nexport const PUBLIC_OPERATIONS: ReadonlySet<string> = new Set([\n${list.join("")}]);\n`;
}
