import { isJsonObject } from "../json-value.ts";

/** A schema as `grammarSchemaOf` reads it. */
type Schema = Readonly<Record<string, unknown>>;

/**
 * The reference of a definition that leads back to itself before any value begins, such as `{"$ref": "#"}`; undefined if there is none. No
 * grammar can be made of it (left recursion), and whoever follows it never ends.
 */
export function loopOf(root: Schema): string | undefined {
  const definitions = isJsonObject(root["$defs"]) ? root["$defs"] : {};
  const done = new Set<string>();
  const search = (schema: unknown, path: ReadonlySet<string>): string | undefined => {
    if (!isJsonObject(schema)) return undefined;
    const { $ref, oneOf } = schema;
    if (Array.isArray(oneOf)) return firstOf(oneOf, (each) => search(each, path));
    if (typeof $ref !== "string" || done.has($ref)) return undefined;
    if (path.has($ref)) return $ref;
    const found = search(definitions[$ref.slice("#/$defs/".length)], new Set([...path, $ref]));
    done.add($ref);
    return found;
  };
  return (
    search(root, new Set()) ??
    firstOf(Object.keys(definitions), (name) => search({ $ref: `#/$defs/${name}` }, new Set()))
  );
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
