import { isDeepStrictEqual } from "node:util";
import { MAX_DETAILS, ValidationError, type FieldError } from "../../../shared/errors.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { editDistance, nearestName } from "../../../shared/nearest-name.ts";

/**
 * What an endpoint does with a parameter. Nothing is dropped in silence: what a client sends is
 * - `honoured`: it does what its own API says of it;
 * - `ignored`: by its meaning no answer could show whether it was obeyed, such as `user`;
 * - `refused`: with 422, naming it. Its neutral values, which ask for what happens anyway, are taken.
 */
export interface ParameterRule {
  /** Members have a dotted path, those of a list's entries with `[]`: `stream_options.include_usage`, `messages[].name`. */
  readonly name: string;
  readonly rule: "honoured" | "ignored" | "refused";
  /** For docs/openai.md; of a refused one also for the error. One phrase. */
  readonly note: string;
  /** Values of a refused parameter that ask for nothing. `null` is one everywhere. */
  readonly neutral?: readonly unknown[];
}

interface Node {
  rule: ParameterRule | null;
  readonly members: Map<string, Node>;
  /** For each entry of a list. */
  entries: Node | null;
}

/** One tree for each table: tables are constants. */
const trees = new WeakMap<readonly ParameterRule[], Node>();

/**
 * Checks that every member of the body is in the table and not refused. Members of an object are looked at if the table has any of them.
 * The schema of the endpoint checks the values.
 * @throws {ValidationError} naming each parameter that is refused or unknown.
 */
export function checkParameters(table: readonly ParameterRule[], body: unknown): void {
  let tree = trees.get(table);
  if (tree === undefined) trees.set(table, (tree = treeOf(table)));
  const faults: FieldError[] = [];
  findFaults(tree, body, "", faults);
  if (faults.length > 0) throw new ValidationError(faults);
}

function findFaults(node: Node, value: unknown, path: string, faults: FieldError[]): void {
  if (faults.length >= MAX_DETAILS || value === null || value === undefined) return;
  const { rule, members, entries } = node;
  if (rule?.rule === "ignored") return;
  if (rule?.rule === "refused") {
    const isNeutral = rule.neutral?.some((neutral) => isDeepStrictEqual(neutral, value)) === true;
    if (!isNeutral) faults.push({ path, message: `is not supported: ${rule.note}` });
    return;
  }
  if (entries !== null && Array.isArray(value)) {
    for (const [index, each] of value.entries()) findFaults(entries, each, joined(path, String(index)), faults);
  }
  if (members.size === 0 || !isJsonObject(value)) return;
  for (const [name, each] of Object.entries(value)) {
    const member = members.get(name);
    if (member !== undefined) findFaults(member, each, joined(path, name), faults);
    else if (each !== null) faults.push({ path: joined(path, name), message: unknownParameter(name, members) });
  }
}

function unknownParameter(name: string, members: ReadonlyMap<string, Node>): string {
  const nearest = nearestName(name.slice(0, 40), [...members.keys()]) ?? "";
  const isTypo = editDistance(name.slice(0, 40), nearest) <= 2;
  return `is not a parameter of this request${isTypo ? `; did you mean "${nearest}"?` : ""}`;
}

function treeOf(table: readonly ParameterRule[]): Node {
  const root = emptyNode();
  for (const rule of table) {
    let node = root;
    for (const part of rule.name.split(".")) {
      const name = part.replace("[]", "");
      let next = node.members.get(name);
      if (next === undefined) node.members.set(name, (next = emptyNode()));
      node = part.endsWith("[]") ? (next.entries ??= emptyNode()) : next;
    }
    node.rule = rule;
  }
  return root;
}

function emptyNode(): Node {
  return { rule: null, members: new Map(), entries: null };
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
