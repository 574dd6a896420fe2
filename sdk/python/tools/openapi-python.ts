import { pascal, PythonTypes, type TypeSchema } from "./python-types.ts";

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, TypeSchema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}
interface OpenApiOperation {
  readonly operationId?: string;
  /** Alternative credentials. The operation is public if the list is absent, is empty or contains an empty entry. */
  readonly security?: readonly object[];
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema?: TypeSchema }>>;

const API_PATH = "/api/v1";
const METHODS = ["get", "post", "put", "patch", "delete"];
const SUCCESSES = ["200", "201", "202"];
/** Members that the client's methods set, by type. */
const LEFT_OUT = {
  ChatCompletionRequest: ["stream"],
  PostMessage: ["stream"],
  EmbeddingsRequest: ["encoding_format"],
  SpeechRequest: ["stream_format"],
  CreateApiKey: ["scopes"],
};
/** Narrower types by name. Vectors are lists of numbers, because the client does not send `encoding_format`. */
const NARROWED = { EmbeddingsDataItemEmbedding: "list[float]" };
const HEAD = `# Generated from the coordinator's OpenAPI document by \`npm run generate\`. Not for editing.
from __future__ import annotations
`;

/** Returns the generated files of the Python client by their paths in its package. The output is deterministic. */
export function pythonTypes(document: unknown): Readonly<Record<string, string>> {
  const { components, paths } = document as OpenApi;
  const types = new PythonTypes(LEFT_OUT, NARROWED);
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (!/Error\d{3}$/.test(name)) types.declare(name, schema);
  }
  const operations: string[] = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation?.operationId === undefined || !path.startsWith(API_PATH)) continue;
      const answer = answerOf(operation, types);
      const name = operation.operationId.replaceAll(/[A-Z]/g, "_$&").toUpperCase();
      const { security = [] } = operation;
      const isPublic = security.length === 0 || security.some((need) => Object.keys(need).length === 0);
      const place = `"${method.toUpperCase()}", "${path.slice(API_PATH.length)}"${isPublic ? ", is_public=True" : ""}`;
      operations.push(`${name}: Operation[${answer}] = Operation(${place})\n`);
    }
  }
  return {
    "schemas.py": `${HEAD}\nfrom typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n\n\n${types.source}`,
    "operations.py":
      `${HEAD}\nfrom typing import Any\n\nfrom . import schemas as s\n` +
      `from .operation import Operation\n\n${operations.join("")}`,
  };
}

/** Returns the type of an operation's JSON response. Declares it if it has no name. */
function answerOf({ operationId = "", responses = {} }: OpenApiOperation, types: PythonTypes): string {
  const schemas = SUCCESSES.map((status) => responses[status]?.content?.["application/json"]?.schema).filter(
    (schema) => schema !== undefined,
  );
  const [first] = schemas;
  if (first === undefined) return "Any";
  if (schemas.length === 1 && first.$ref !== undefined) return `s.${types.typeOf(first, "")}`;
  const name = `${pascal(operationId)}Answer`;
  types.declare(name, schemas.length === 1 ? first : { anyOf: schemas });
  return `s.${name}`;
}
