/** A JSON Schema of the OpenAPI document. */
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
 * Closes all objects with named members, so that undocumented members are rejected. The document leaves objects open,
 * because members may be added without a new version. Tests check that the coordinator sends no undocumented members.
 */
export function closed(schema: Schema): Schema {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  // `additionalProperties: false` considers only the members of its own schema.
  if (schema.allOf !== undefined) throw new Error("allOf cannot be closed: remove it from the document");
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
