import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";

const HEAD = `// Generated from the coordinator's OpenAPI document by \`npm run generate\`. Not for editing.\n\n`;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Returns the source of src/openapi.ts for a parsed OpenAPI document. The output is deterministic. */
export async function openApiTypes(document: unknown): Promise<string> {
  const { components, ...rest } = withoutExamples(document) as OpenAPI3;
  const paths = successfulOnly(rest.paths as unknown as Paths);
  const schemas = Object.fromEntries(
    Object.entries(components?.schemas ?? {}).filter(([name]) => !/Error\d+$/.test(name)),
  );
  const reduced = { openapi: rest.openapi, info: rest.info, paths, components: { schemas } } as unknown as OpenAPI3;
  // A field with a default may be omitted from a request, so it is optional here.
  const nodes = await openapiTS(reduced, { defaultNonNullable: false, alphabetize: true });
  const sourceOf = (name: string): string => concise(astToString(nodes.filter((node) => nameOf(node) === name)));
  return HEAD + sourceOf("components") + callsOf(paths, sourceOf("operations")) + publicCalls(paths);
}

/** Removes comments that only repeat the type, and absent members. */
function concise(source: string): string {
  return source
    .replaceAll(/^( *)(\/\*\*[^]*?\*\/)\n/gm, (_, indent: string, comment: string) => described(indent, comment))
    .replaceAll(/^ *\w+\??: never;\n/gm, "")
    .replaceAll(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, "")
    .replaceAll(/^ *parameters: \{\n *\};\n/gm, "");
}

/** Returns a comment without the parts that repeat the type. */
function described(indent: string, comment: string): string {
  const [, text = ""] = /@description (.*?)(?: \*\/)?$/m.exec(comment) ?? [];
  return text === "" || text.startsWith("discriminator enum property") ? "" : `${indent}/** ${text} */\n`;
}

function withoutExamples(document: unknown): unknown {
  return JSON.parse(JSON.stringify(document, (name, value: unknown) => (name === "example" ? undefined : value)));
}

function nameOf(node: object): string {
  return (node as { readonly name?: { readonly text: string } }).name?.text ?? "";
}

/**
 * Renames operations like calls (`get /jobs/{id}`), and drops failures (`errors.ts` has them), headers (`http.ts` handles them) and
 * descriptions of responses.
 */
function successfulOnly(paths: Paths): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => [
          method,
          {
            ...operation,
            operationId: `${method} ${path.replace(/^\/api\/v1/, "")}`,
            responses: Object.fromEntries(
              Object.entries(operation.responses)
                .filter(([status]) => Number(status) < 300)
                .map(([status, response]) => [status, { ...response, description: "", headers: {} }]),
            ),
          },
        ]),
      ),
    ]),
  );
}

const operationsOf = (paths: Paths): Operation[] => Object.values(paths).flatMap((item) => Object.values(item));

/** Returns the interface of operations by method and path, with their descriptions. A body or response maps to its media types. */
function callsOf(paths: Paths, operations: string): string {
  const abouts = new Map(
    operationsOf(paths).map(({ operationId, summary, description }) => [
      operationId,
      [summary, description].filter((text) => text !== undefined).join(". "),
    ]),
  );
  const members = operations
    .replaceAll(/^( *)content: \{\n((?:\1 {4}"[^"]+\/)[^]*?)^\1\};\n/gm, (_, indent: string, media: string) =>
      media.replaceAll(new RegExp(`^${indent} {4}`, "gm"), indent),
    )
    .replaceAll(/^ {4}"([^"]+)": \{$/gm, (line, name: string) => `    /** ${abouts.get(name) ?? ""} */\n${line}`)
    .replace("interface operations", "interface calls");
  return `/** Operations by method and path. */\n${members}`;
}

/** Returns the set of operations that need no credential. */
function publicCalls(paths: Paths): string {
  const list = operationsOf(paths)
    .filter(({ security = [] }) => security.length === 0 || security.some((need) => Object.keys(need).length === 0))
    .map(({ operationId }) => `    "${operationId}",\n`);
  return `/** Operations that need no credential. */\nexport const PUBLIC_OPERATIONS: ReadonlySet<string> = new Set([\n${list.toSorted().join("")}]);\n`;
}
