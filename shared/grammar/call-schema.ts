import { createHash } from "node:crypto";
import { allowedNames, NOT_OFFERED, toolUseOf, type ChatTool, type ToolFields } from "../chat-tools.ts";
import type { FieldError } from "../errors.ts";
import { MAX_TOTAL_REPEATS, MAX_VISITS, partsOf, repeatsOf, type VisitBudget } from "./grammar-cost.ts";
import { grammarSchemaOf, UnsupportedSchema } from "./grammar-schema.ts";
import { isJsonObject } from "../json-value.ts";
import { recentMap } from "../recent-map.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Limit of all tools together. Compiling takes the Island about 0.1 ms per part, and other runs of the model wait
 * during that time (2 cores, 2026-11).
 */
const MAX_TOOL_PARTS = 5_000;
const ANY_OBJECT: Schema = { type: "object", additionalProperties: true };
/** Number of cached checks. Agents send the same tools with every request. */
const MAX_KNOWN = 256;

/** Result of the check of a request's tools. */
export interface ToolCheck {
  /** The names of the tools whose arguments may be any object. */
  readonly loose: ReadonlySet<string>;
  readonly faults: readonly ToolFault[];
}

interface ToolFault {
  /** The tool that has the fault; null for all tools together. */
  readonly tool: string | null;
  /** Path inside the tool's parameters, with a leading dot. */
  readonly path: string;
  readonly message: string;
}

const NO_TOOLS: ToolCheck = { loose: new Set(), faults: [] };

const known = recentMap<ToolCheck>(MAX_KNOWN);

/**
 * Returns the names of the tools whose grammar only enforces that their arguments are an object. A client often cannot
 * change the schemas of its tools, so unsupported schemas without `strict` are not rejected. If all schemas together
 * cost too much, those that cost most are enforced only as objects.
 */
export function looseTools(tools: readonly ChatTool[]): ReadonlySet<string> {
  return checkTools(tools).loose;
}

/**
 * Returns the problems of a request's tools that the checks of single fields do not find, before the job waits and
 * costs credits.
 */
export function toolErrors(input: ToolFields): FieldError[] {
  const { tools, tool_choice: choice } = input;
  const names = (tools ?? []).map((tool) => tool.function.name);
  const double = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (double !== -1) return [{ path: `tools.${double}.function.name`, message: `"${names[double]}" names two tools` }];
  if (choice != null && choice !== "none" && choice !== "auto" && names.length === 0) {
    return [{ path: "tool_choice", message: `requires functions in tools; ${NOT_OFFERED}` }];
  }
  const unknown = allowedNames(choice)?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    return [{ path: "tool_choice", message: `"${unknown}" must be one of the tools that the model is offered` }];
  return checkTools(toolUseOf(input)?.tools ?? []).faults.map(({ tool, path, message }) => ({
    path: tool === null ? "tools" : `tools.${names.indexOf(tool)}.function.parameters${path}`,
    message,
  }));
}

function checkTools(tools: readonly ChatTool[]): ToolCheck {
  if (tools.length === 0) return NO_TOOLS;
  const key = keyOf(tools);
  const before = known.get(key);
  if (before !== undefined) return before;
  const check = newCheck(tools);
  known.set(key, check);
  return check;
}

function keyOf(tools: readonly ChatTool[]): string {
  const definitions = tools.map(({ name, parameters, isStrict }) => [name, isStrict, parameters]);
  return createHash("sha256").update(JSON.stringify(definitions)).digest("base64");
}

/** Returns whether the check of these tools is cached. */
export function knowsCheckOf(tools: readonly ChatTool[]): boolean {
  return tools.length === 0 || known.has(keyOf(tools));
}

/** Returns the check of tools with its key, for the cache of another thread. */
export function exportToolCheck(tools: readonly ChatTool[]): readonly [string, ToolCheck] {
  return [keyOf(tools), checkTools(tools)];
}

/** Caches a check that {@link exportToolCheck} returned in another thread. */
export function importToolCheck([key, check]: readonly [string, ToolCheck]): void {
  known.set(key, check);
}

function newCheck(tools: readonly ChatTool[]): ToolCheck {
  const loose = new Set<string>();
  const faults: ToolFault[] = [];
  const kept: { readonly tool: ChatTool; readonly cost: Cost }[] = [];
  const budget: VisitBudget = { left: MAX_VISITS };
  for (const tool of tools) {
    const { schema, fault } = readParameters(tool, budget);
    if (schema !== null) kept.push({ tool, cost: { parts: partsOf(schema), repeats: repeatsOf(schema) } });
    else if (tool.isStrict === true || fault.isOther) faults.push({ tool: tool.name, ...fault });
    else loose.add(tool.name);
  }
  let total = kept.reduce((sum, { cost }) => addCost(sum, cost, 1), { parts: 0, repeats: 0 });
  for (const { tool, cost } of kept.toSorted((a, b) => shareOf(b.cost) - shareOf(a.cost))) {
    if (shareOf(total) <= 1) break;
    if (tool.isStrict === true) continue;
    loose.add(tool.name);
    total = addCost(total, cost, -1);
  }
  if (shareOf(total) > 1) faults.push({ tool: null, path: "", message: describeCost(total) });
  return { loose, faults };
}

/** Cost of compiling the grammar of a tool's arguments on the Island. */
interface Cost {
  readonly parts: number;
  readonly repeats: number;
}

function addCost(sum: Cost, { parts, repeats }: Cost, sign: 1 | -1): Cost {
  return { parts: sum.parts + sign * parts, repeats: sum.repeats + sign * repeats };
}

/** Returns the share of the budget that a grammar takes; more than 1 is too much. */
function shareOf({ parts, repeats }: Cost): number {
  return Math.max(parts / MAX_TOOL_PARTS, repeats / MAX_TOTAL_REPEATS);
}

function describeCost({ parts, repeats }: Cost): string {
  return `the schemas of those with strict have ${parts} parts, and lengths and numbers of items that add up to ${repeats}; at most ${MAX_TOOL_PARTS} and ${MAX_TOTAL_REPEATS} are supported`;
}

/**
 * The parameters as a schema for grammars, or the reason why they are unsupported. `isOther` is true if their values
 * are not objects, which is a mistake with or without `strict`.
 */
type ReadParameters =
  | { readonly schema: Schema; readonly fault: null }
  | { readonly schema: null; readonly fault: Omit<ToolFault, "tool"> & { readonly isOther: boolean } };

function readParameters(tool: ChatTool, budget: VisitBudget): ReadParameters {
  try {
    const schema = argumentsSchemaOf(tool, budget);
    const { type, $ref } = schema;
    if (type === "object" || $ref !== undefined) return { schema, fault: null };
    const message = "must be the schema of an object";
    return { schema: null, fault: { path: "", message, isOther: type !== undefined } };
  } catch (error) {
    if (!(error instanceof UnsupportedSchema)) throw error;
    const path = error.path.replace("response_format.json_schema.schema", "");
    return { schema: null, fault: { path, message: error.why, isOther: false } };
  }
}

/**
 * Returns the schema of a tool's arguments for its grammar. Without `strict`, a model may omit optional properties,
 * unless such a grammar would cost too much.
 * @throws {UnsupportedSchema}
 */
export function argumentsSchemaOf(
  { parameters, isStrict }: ChatTool,
  budget: VisitBudget = { left: MAX_VISITS },
): Schema {
  if (isStrict === true) return grammarSchemaOf(parameters, { budget });
  try {
    return grammarSchemaOf(parameters, { mayOmit: true, budget });
  } catch (error) {
    if (error instanceof UnsupportedSchema) return grammarSchemaOf(parameters, { budget });
    throw error;
  }
}

/**
 * Returns the JSON Schema of one call of any of the tools, `{"name": …, "arguments": …}`, in the subset that grammars
 * support. Definitions are at the root, with the tool's index in their names.
 * @throws {UnsupportedSchema}
 */
export function callSchemaOf(tools: readonly ChatTool[]): Schema {
  const loose = looseTools(tools);
  const definitions: Record<string, unknown> = {};
  const calls = tools.map((tool, index) => {
    // Definitions are removed first, because in a schema that is a reference they are next to the reference.
    const { $defs, ...schema } = loose.has(tool.name) ? ANY_OBJECT : argumentsSchemaOf(tool);
    for (const [name, part] of Object.entries(isJsonObject($defs) ? $defs : {})) {
      definitions[`${index}.${name}`] = withRenamedRefs(part, index);
    }
    return { type: "object", properties: { name: { const: tool.name }, arguments: withRenamedRefs(schema, index) } };
  });
  return Object.keys(definitions).length === 0 ? { oneOf: calls } : { oneOf: calls, $defs: definitions };
}

const REF = "#/$defs/";

function withRenamedRefs(value: unknown, index: number): unknown {
  if (Array.isArray(value)) return value.map((each) => withRenamedRefs(each, index));
  if (!isJsonObject(value)) return value;
  const { $ref } = value;
  if (typeof $ref === "string") return { $ref: `${REF}${index}.${$ref.slice(REF.length)}` };
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withRenamedRefs(each, index)]));
}
