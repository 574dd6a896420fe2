/** A schema of the document, as far as it is looked at here. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}
type Schemas = Readonly<Record<string, Schema>>;

const PREFIX = "#/components/schemas/";

/**
 * The document without `allOf`, which the generator writes for a component that was extended or described anew: the one becomes
 * a schema with all members, the other a reference with a description beside. Readers see one object, generators of clients
 * make one type, and a check that allows no other members can be told of one place.
 * @param document Parsed JSON, which is not changed.
 */
export function withoutAllOf(document: unknown, schemas: Schemas): unknown {
  if (Array.isArray(document)) return document.map((each) => withoutAllOf(each, schemas));
  if (typeof document !== "object" || document === null) return document;
  const { allOf, ...rest } = document as Schema;
  // A member of data may have this name too.
  const plain = Array.isArray(allOf) ? { ...rest, ...merge(allOf, schemas) } : document;
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, withoutAllOf(value, schemas)]));
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

/** What a reference stands for, with its own `allOf` merged. */
function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[schema.$ref.slice(PREFIX.length)];
  if (target === undefined) throw new Error(`${schema.$ref} is not in the document`);
  return target.allOf === undefined ? target : merge(target.allOf, schemas);
}
