/** The members of a schema that matter here. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}
type Schemas = Readonly<Record<string, Schema>>;

const PREFIX = "#/components/schemas/";

/**
 * The document without `allOf`. The generator writes it for a component that was extended, which becomes one schema with all
 * members, and for one with a description of its own, which becomes a reference with that description. So readers see one
 * object, client generators make one type, and a schema can be closed with `additionalProperties` in one place.
 * @param document Parsed JSON; not changed.
 */
export function mergeAllOf(document: unknown, schemas: Schemas): unknown {
  if (Array.isArray(document)) return document.map((each) => mergeAllOf(each, schemas));
  if (typeof document !== "object" || document === null) return document;
  const { allOf, ...rest } = document as Schema;
  // An example may have a member of this name; only a list is the keyword.
  const plain = Array.isArray(allOf) ? { ...rest, ...merge(allOf, schemas) } : document;
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, mergeAllOf(value, schemas)]));
}

function merge(parts: readonly Schema[], schemas: Schemas): Schema {
  const [base, ...additions] = parts;
  if (base?.$ref !== undefined && additions.every(({ properties }) => properties === undefined)) {
    return Object.assign({}, base, ...additions) as Schema;
  }
  const objects = parts.map((part) => resolve(part, schemas));
  return {
    ...(Object.assign({}, ...objects) as Schema),
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)) as Record<string, unknown>,
    required: [...new Set(objects.flatMap(({ required = [] }) => required))],
  };
}

/** The schema that a reference names, with its own `allOf` merged. */
function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[schema.$ref.slice(PREFIX.length)];
  if (target === undefined) throw new Error(`${schema.$ref} is not in the document`);
  return target.allOf === undefined ? target : merge(target.allOf, schemas);
}
