import { isJsonObject } from "../json-value.ts";

/** Schema as returned by {@link grammarSchemaOf}, which contains only what grammars support. */
type Schema = Readonly<Record<string, unknown>>;

/**
 * Limit of repeats in a grammar. Compiling takes time and memory for each repeat, on the event loop that all runs of a
 * model share. 990 strings of different lengths up to 2,000 took 3.4 s and 600 MB; repeats up to this limit take less
 * than 25 ms (2 cores, 2026-11).
 */
export const MAX_TOTAL_REPEATS = 20_000;
/**
 * Limit of simultaneously open alternatives. Each is compared with each token of the vocabulary. 500 took 5 s for one
 * token of a crafted vocabulary of 128,000, while other streams waited (2 cores, 2026-11).
 */
const MAX_CHOICES = 250;

const REPEATS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] as const;

/** Budget of visits to parts, counted for each reference. Schemas of one request can share a budget. */
export interface VisitBudget {
  left: number;
}
export const MAX_VISITS = 20_000;

/** Returns why a grammar for the schema would cost too much; null if it may be compiled. */
export function costProblem(schema: Schema, budget: VisitBudget): string | null {
  return new CostWalk(schema, budget).run();
}

/**
 * Possible beginnings of the JSON that a schema allows. Every such text starts with one of them. Each is cut to {@link
 * MAX_LEAD} characters.
 */
type Leads = readonly string[];
/** Maximum length of a beginning. Longer beginnings would take longer to compare and rarely match that far. */
const MAX_LEAD = 100;
const NUMBER_LEAD = "0";
/** Number of comparisons of two alternatives that take as long as one visit. */
const COMPARISONS_PER_VISIT = 16;

class CostWalk {
  readonly #root: Schema;
  /** References on the current path, with the number of ambiguous choices before each. */
  readonly #following = new Map<string, number>();
  /** Number of choices between alternatives with the same beginning on the current path. */
  #ambiguous = 0;
  readonly #budget: VisitBudget;

  constructor(root: Schema, budget: VisitBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  run(): string | null {
    const repeats = repeatsOf(this.#root);
    if (repeats > MAX_TOTAL_REPEATS) {
      return `its lengths and numbers of items and properties add up to ${repeats}; at most ${MAX_TOTAL_REPEATS} are supported`;
    }
    try {
      const choices = this.#choices(this.#root);
      if (choices <= MAX_CHOICES) return null;
      return `up to ${choices} alternatives begin alike or in the same place; at most ${MAX_CHOICES} are supported`;
    } catch (error) {
      if (error instanceof TooCostly) return error.message;
      throw error;
    }
  }

  /** Returns the maximum number of alternatives that can be open at once while a value of `schema` is generated. */
  #choices(schema: Schema): number {
    this.#visit();
    const { $ref, oneOf, enum: literals } = schema;
    if (typeof $ref === "string") return this.#follow($ref);
    if (Array.isArray(literals)) return literals.length;
    if (Array.isArray(oneOf)) return this.#choicesOf(oneOf as Schema[]);
    const parts = partsOfTyped(schema).filter(isJsonObject);
    return parts.reduce((most, part) => Math.max(most, this.#choices(part)), 1);
  }

  /**
   * Counts open alternatives. Before the first character, all are open. Afterwards, the alternatives with the same
   * beginning are open, each with the open alternatives inside it.
   */
  #choicesOf(alternatives: readonly Schema[]): number {
    const leads = alternatives.map((each) => this.#leadsOf(each, []));
    const atStart = leads.reduce((sum, { length }) => sum + length, 0);
    if (atStart > MAX_CHOICES) return atStart;
    this.#visit(Math.ceil(atStart ** 2 / COMPARISONS_PER_VISIT));
    const overlaps = leads.map((own) => leads.flatMap((other, index) => (overlap(own, other) ? [index] : [])));
    const openChoices = alternatives.map((each, index) => {
      const isAmbiguous = (overlaps[index] ?? []).length > 1;
      this.#ambiguous += isAmbiguous ? 1 : 0;
      const open = this.#choices(each);
      this.#ambiguous -= isAmbiguous ? 1 : 0;
      return open;
    });
    const sums = overlaps.map((group) => group.reduce((sum, index) => sum + (openChoices[index] ?? 0), 0));
    return Math.max(atStart, ...sums);
  }

  #follow($ref: string): number {
    const since = this.#following.get($ref);
    // Each pass through alternatives with the same beginning doubles the open ones: the 24th token took 17 s, and the
    // 26th never arrived.
    if (since !== undefined && this.#ambiguous > since) {
      throw new TooCostly(
        `${$ref} refers back to itself from alternatives that begin alike; let their first property, a const, tell them apart`,
      );
    }
    if (since !== undefined) return 1;
    this.#following.set($ref, this.#ambiguous);
    const choices = this.#choices(definitionOf(this.#root, $ref));
    this.#following.delete($ref);
    return choices;
  }

  #visit(count = 1): void {
    this.#budget.left -= count;
    if (this.#budget.left < 0) throw new TooCostly("its references and alternatives expand to too many parts");
  }

  #leadsOf(schema: Schema, following: readonly string[]): Leads {
    this.#visit();
    const { $ref, oneOf, enum: values, type, properties, optional } = schema;
    if (typeof $ref === "string") {
      if (following.includes($ref)) return [""];
      return this.#leadsOf(definitionOf(this.#root, $ref), [...following, $ref]);
    }
    if (Array.isArray(oneOf)) return oneOf.flatMap((each: Schema) => this.#leadsOf(each, following));
    if (Array.isArray(values)) {
      this.#visit(values.length);
      return values.map(leadOf);
    }
    if ("const" in schema) return [leadOf(schema["const"])];
    if (Array.isArray(type)) return type.flatMap((each) => leadsOfType(each));
    const [first] = isJsonObject(properties) ? Object.entries(properties) : [];
    // If the first property may be missing, another one may be the first.
    if (first !== undefined && listOf(optional).includes(first[0])) return leadsOfType("object");
    if (first === undefined) return leadsOfType(type);
    const key = `{${JSON.stringify(first[0])}:`;
    return isJsonObject(first[1]) ? this.#leadsOf(first[1], following).map((lead) => key + lead) : [key];
  }
}

class TooCostly extends Error {}

/** Returns the sum of lengths and numbers of items and properties. */
export function repeatsOf(schema: Schema): number {
  const own = REPEATS.reduce((most, name) => Math.max(most, numberOf(schema[name])), 0);
  return partsIn(schema).reduce((sum, part) => sum + repeatsOf(part), own);
}

/** Returns the number of schemas in a schema, including itself. */
export function partsOf(schema: Schema): number {
  return partsIn(schema).reduce((sum, part) => sum + partsOf(part), 1);
}

function partsIn({ $defs, oneOf, ...schema }: Schema): Schema[] {
  return [...valuesOf($defs), ...listOf(oneOf), ...partsOfTyped(schema)].filter(isJsonObject);
}

function partsOfTyped({ items, prefixItems, properties, additionalProperties, propertyNames }: Schema): unknown[] {
  return [items, ...listOf(prefixItems), ...valuesOf(properties), additionalProperties, propertyNames];
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function definitionOf(root: Schema, $ref: string): Schema {
  const { $defs } = root;
  const definition = isJsonObject($defs) ? $defs[$ref.replace("#/$defs/", "")] : undefined;
  return isJsonObject(definition) ? definition : {};
}

function overlap(some: Leads, others: Leads): boolean {
  return some.some((a) => others.some((b) => a.startsWith(b) || b.startsWith(a)));
}

function leadOf(value: unknown): string {
  return typeof value === "number" ? NUMBER_LEAD : cut(JSON.stringify(value));
}

function cut(lead: string): string {
  return lead.slice(0, MAX_LEAD);
}

function leadsOfType(type: unknown): Leads {
  switch (type) {
    case "string":
      return ['"'];
    case "number":
    case "integer":
      return [NUMBER_LEAD];
    case "boolean":
      return ["true", "false"];
    case "null":
      return ["null"];
    case "array":
      return ["["];
    case "object":
      return ["{"];
    default:
      return [""];
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function valuesOf(value: unknown): unknown[] {
  return isJsonObject(value) ? Object.values(value) : [];
}
