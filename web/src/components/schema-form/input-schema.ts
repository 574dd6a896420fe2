/** Subset of JSON Schema that forms support. Members that need more are typed as JSON. */
export interface InputSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly contentEncoding?: string;
  readonly items?: InputSchema;
  readonly anyOf?: readonly InputSchema[];
  readonly properties?: Readonly<Record<string, InputSchema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly { readonly required?: readonly string[] }[];
}

/** Kind of form control for a member. */
export type Control = "choice" | "check" | "number" | "line" | "text" | "file" | "lines" | "json";

const LONGEST_LINE = 200;

export function controlFor(schema: InputSchema): Control {
  if (schema.enum !== undefined) return "choice";
  switch (schema.type) {
    case "boolean":
      return "check";
    case "integer":
    case "number":
      return "number";
    case "string":
      if (schema.contentEncoding === "base64") return "file";
      return schema.maxLength !== undefined && schema.maxLength <= LONGEST_LINE ? "line" : "text";
    case "array":
      return schema.items?.type === "string" && schema.items.enum === undefined ? "lines" : "json";
    default:
      return "json";
  }
}

/**
 * Returns the schema without `null`, for which a form omits the member. Among alternatives it prefers a list of
 * strings.
 */
function plainOf(schema: InputSchema): InputSchema {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((each) => each !== "null");
    return types.length === 1 ? { ...schema, type: types[0] } : schema;
  }
  if (anyOf === undefined) return schema;
  const others = anyOf.filter((each) => each.type !== "null");
  const chosen = others.length === 1 ? others[0] : others.find((each) => controlFor(each) === "lines");
  return chosen === undefined ? schema : { ...plainOf(chosen), ...rest };
}

export interface FormMember {
  readonly name: string;
  readonly schema: InputSchema;
  readonly isRequired: boolean;
  /** Whether the member may be omitted regardless of other members. */
  readonly isOptional: boolean;
}

/** Returns the members in the order of the schema, required ones first. */
export function membersOf(schema: InputSchema): FormMember[] {
  const required = new Set(schema.required ?? []);
  const alternatives = new Set(schema.oneOf?.flatMap((each) => each.required ?? []));
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    name,
    schema: plainOf(member),
    isRequired: required.has(name),
    isOptional: !required.has(name) && !alternatives.has(name),
  }));
  return [...members.filter(({ isRequired }) => isRequired), ...members.filter(({ isRequired }) => !isRequired)];
}

/** Returns the default value as text; empty if the schema has none. */
export function placeholderOf({ default: value }: InputSchema): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
