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

/** The source of src/openapi.ts for an OpenAPI document, parsed. The same document always gives the same text. */
export async function openApiTypes(document: unknown): Promise<string> {
  const { components, ...rest } = withoutExamples(document) as OpenAPI3;
  const paths = successfulOnly(rest.paths as unknown as Paths);
  const schemas = Object.fromEntries(
    Object.entries(components?.schemas ?? {}).filter(([name]) => !/Error\d+$/.test(name)),
  );
  const reduced = { openapi: rest.openapi, info: rest.info, paths, components: { schemas } } as unknown as OpenAPI3;
  // A field with a default may be left out of a request, so it is optional here too.
  const nodes = await openapiTS(reduced, { defaultNonNullable: false, alphabetize: true });
  const types = astToString(nodes.filter((node) => ["components", "operations"].includes(nameOf(node))))
    .replaceAll(/^( *)(\/\*\*[^]*?\*\/)\n/gm, (_, indent: string, comment: string) => described(indent, comment))
    // Absent members need no line each.
    .replaceAll(/^ *\w+\??: never;\n/gm, "")
    .replaceAll(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, "")
    .replaceAll(/^ *parameters: \{\n *\};\n/gm, "");
  return HEAD + types + callsOf(paths) + publicCalls(paths);
}

/** A comment without what the type says. */
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

/** Failures are `errors.ts`, and headers are for `http.ts`. */
function successfulOnly(paths: Paths): Paths {
  return mapValues(paths, (item) =>
    mapValues(item, (operation) => ({
      ...operation,
      responses: Object.fromEntries(
        Object.entries(operation.responses)
          .filter(([status]) => Number(status) < 300)
          .map(([status, response]) => [status, { ...response, headers: {} }]),
      ),
    })),
  );
}

/** The operations by method and path. */
function callsOf(paths: Paths): string {
  const members = named(paths).map(([name, { operationId, summary, description }]) => {
    const about = [summary, description].filter((text) => text !== undefined).join(". ");
    return `    /** ${about} */\n    "${name}": operations["${operationId}"];\n`;
  });
  return `/** Operations by method and path. */\nexport interface calls {\n${members.join("")}}\n`;
}

/** The operations that need no credential. */
function publicCalls(paths: Paths): string {
  const list = named(paths)
    .filter(([, { security = [] }]) => security.length === 0 || security.some((need) => Object.keys(need).length === 0))
    .map(([name]) => `    "${name}",\n`);
  return `/** Operations that need no credential. */\nexport const PUBLIC_OPERATIONS: ReadonlySet<string> = new Set([\n${list.toSorted().join("")}]);\n`;
}

/** Operations as a call names them: `get /jobs/{id}`. */
function named(paths: Paths): [string, Operation][] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method} ${path.replace(/^\/api\/v1/, "")}`,
      operation,
    ]),
  );
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
