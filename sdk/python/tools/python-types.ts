/** The parts of an OpenAPI JSON Schema that determine types. */
export interface TypeSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly TypeSchema[];
  readonly allOf?: readonly TypeSchema[];
  readonly oneOf?: readonly TypeSchema[];
  readonly items?: TypeSchema;
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: TypeSchema | boolean;
  readonly description?: string;
}

const SCALARS: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};
/** Names that a field of a class cannot have. */
const KEYWORDS = new Set(["from", "class", "import", "in", "is", "not", "pass", "global", "lambda", "None"]);

/** Collects Python declarations: a TypedDict for each object of a schema, named by its path, and an alias for everything else. */
export class PythonTypes {
  readonly #declared = new Map<string, string>();
  /** Properties to omit, by type name, because a method of the client sets them. */
  readonly #leftOut: Readonly<Record<string, readonly string[]>>;

  /** Narrower types by path name, because the client's request determines them. */
  readonly #narrowed: Readonly<Record<string, string>>;

  constructor(
    leftOut: Readonly<Record<string, readonly string[]>> = {},
    narrowed: Readonly<Record<string, string>> = {},
  ) {
    this.#leftOut = leftOut;
    this.#narrowed = narrowed;
  }

  get source(): string {
    return [...this.#declared.values()].join("\n\n");
  }

  get names(): string[] {
    return [...this.#declared.keys()];
  }

  /** Declares `name` for a schema. */
  declare(name: string, schema: TypeSchema): void {
    const type = this.typeOf(schema, name);
    if (type !== name) this.#add(name, `${name}: TypeAlias = ${JSON.stringify(type)}\n`);
  }

  /** Returns the type of a schema. `name` is the name of an object in it. */
  typeOf(schema: TypeSchema, name: string): string {
    const narrowed = this.#narrowed[name];
    if (narrowed !== undefined) return narrowed;
    if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "Any";
    if (schema.enum !== undefined) return literalOf(schema.enum);
    if (schema.const !== undefined) return literalOf([schema.const]);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.#unionOf(choices, name);
    if (schema.allOf !== undefined) throw new Error(`${name}: allOf cannot be expressed as a type in Python`);
    const { type } = schema;
    if (typeof type === "object") return unite(type.map((one) => this.typeOf({ ...schema, type: one }, name)));
    if (type === "object") return this.#objectOf(schema, name);
    if (type === "array") return `list[${this.typeOf(schema.items ?? {}, `${name}Item`)}]`;
    return type === undefined ? "Any" : (SCALARS[type] ?? "Any");
  }

  #unionOf(choices: readonly TypeSchema[], name: string): string {
    const areObjects = choices.filter(({ properties }) => properties !== undefined).length > 1;
    return unite(choices.map((choice, index) => this.typeOf(choice, areObjects ? `${name}${index + 1}` : name)));
  }

  #objectOf(schema: TypeSchema, name: string): string {
    const { properties, additionalProperties } = schema;
    if (properties === undefined || Object.keys(properties).length === 0) {
      const values =
        typeof additionalProperties === "object" ? this.typeOf(additionalProperties, `${name}Value`) : "Any";
      return `dict[str, ${values}]`;
    }
    // Reserves the position, because a type is declared before its parts.
    this.#add(name, "");
    this.#declared.set(name, this.#classOf(schema, name));
    return name;
  }

  #classOf({ properties = {}, required = [], description }: TypeSchema, name: string): string {
    const fields = Object.entries(properties)
      .filter(([key]) => !(this.#leftOut[name] ?? []).includes(key))
      .map(([key, value]) => {
        const type = this.typeOf(value, name + pascal(key));
        return { key, type: required.includes(key) ? type : `NotRequired[${type}]`, text: value.description };
      });
    if (fields.some(({ key }) => KEYWORDS.has(key) || !/^[a-z_]\w*$/i.test(key))) {
      const entries = fields.map(({ key, type }) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},\n`);
      return `${name} = TypedDict("${name}", {\n${entries.join("")}})\n`;
    }
    const lines = fields.map(
      ({ key, type, text }) => `    ${key}: ${type}\n${text === undefined ? "" : `    ${docstring(text)}\n`}`,
    );
    const head = description === undefined ? "" : `    ${docstring(description)}\n\n`;
    return `class ${name}(TypedDict):\n${head}${lines.join("")}`;
  }

  #add(name: string, declaration: string): void {
    if (this.#declared.has(name)) throw new Error(`Two schemas would be called ${name}`);
    this.#declared.set(name, declaration);
  }
}

export function pascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase());
}

function unite(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function literalOf(values: readonly unknown[]): string {
  return `Literal[${values.map((value) => (value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value))).join(", ")}]`;
}

function docstring(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll('"""', "'''").trim();
  return `"""${line.endsWith('"') ? `${line} ` : line}"""`;
}
