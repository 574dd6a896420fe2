/** The part of JSON Schema that forms are made from; anything else is typed as JSON. */
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

/** How a member is typed. */
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

/** The schema without `null`, which a form gives by leaving the member out. Among other alternatives the form takes a list of texts. */
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
  /** It may be left out whatever else is given. */
  readonly isOptional: boolean;
}

/** Members in the order of the schema, those that must be given first. */
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

/** What the member is where nothing is typed; empty if that is not known. */
export function placeholderOf({ default: value }: InputSchema): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
