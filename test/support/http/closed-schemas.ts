/** A JSON Schema as it stands in the OpenAPI document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/**
 * The schema with every object closed that names its members: what is not documented is refused. The document itself leaves
 * objects open, as members may be added without a new version; that ours adds none unsaid is for the tests to see.
 */
export function closed(schema: Schema): Schema {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  // `additionalProperties: false` looks at the members of its own schema only.
  if (schema.allOf !== undefined) throw new Error("allOf cannot be closed; the document is made without it");
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapValues(properties, closed), additionalProperties: false }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: closedRest(additionalProperties) }),
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(closed) }),
  };
}

function closedRest(rest: boolean | Schema): boolean | Schema {
  return typeof rest === "boolean" ? rest : closed(rest);
}

export function mapValues<T, U>(values: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
