import { isDeepStrictEqual } from "node:util";
import { MAX_DETAILS, ValidationError, type FieldError } from "../../../shared/errors.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { editDistance, nearestName } from "../../../shared/nearest-name.ts";
import type { ErrorStyle } from "../error-answers.ts";

/**
 * What an endpoint does with a parameter. Nothing is dropped in silence: a parameter is
 * - `honoured`: it does what its own API says of it;
 * - `hint`: a response without it is still a correct response, as with labels, effort or caching. The response names it in
 *   {@link IGNORED_HEADER};
 * - `refused`: without it the response would mean something else. 422, naming it.
 */
export interface ParameterRule {
  /** Members have a dotted path, those of a list's entries with `[]`: `stream_options.include_usage`, `messages[].name`. */
  readonly name: string;
  readonly rule: "honoured" | "hint" | "refused";
  /** For docs/openai.md; of a refused one also for the error. One phrase. */
  readonly note: string;
  /** Values of a hint or of a refused parameter that ask for what happens anyway. `null` is one everywhere. */
  readonly neutral?: readonly unknown[];
  /** Whether a value of an honoured parameter is a hint, such as a tool that only its vendor can run. */
  readonly isHint?: (value: unknown) => boolean;
}

/** Names the hints of a request that the response does without, separated by commas. */
export const IGNORED_HEADER = "Atoll-Ignored";
/** Most entries of one list that are named: the header is at most 5 KB, whatever the client sends. */
const MAX_NAMED_ENTRIES = 8;

interface Node {
  rule: ParameterRule | null;
  readonly members: Map<string, Node>;
  /** For each entry of a list. */
  entries: Node | null;
}

/** One tree for each table: tables are constants. */
const trees = new WeakMap<readonly ParameterRule[], Node>();

/** Whether a value has a type that is not among `own`, such as a tool that only its vendor can run. */
export function hasOtherType(...own: readonly string[]): (value: unknown) => boolean {
  return (value) => isJsonObject(value) && typeof value["type"] === "string" && !own.includes(value["type"]);
}

/** What a walk through a body has found. */
interface Findings {
  readonly style: ErrorStyle;
  readonly faults: FieldError[];
  /** Paths of hints, by the name of their rule. */
  readonly hints: Map<string, string[]>;
}

/**
 * Checks that every member of the body is in the table and not refused. Members of an object are looked at if the table has any of them.
 * The schema of the endpoint checks the values.
 * @param style Whose clients read the errors: Anthropic's fall back by the wording of theirs.
 * @returns the hints in the body, by their paths (`output_config.effort`, `tools[8]`); of more than 8 entries of a list, its rule's name.
 * @throws {ValidationError} naming each parameter that is refused or unknown.
 */
export function checkParameters(table: readonly ParameterRule[], body: unknown, style: ErrorStyle): string[] {
  let tree = trees.get(table);
  if (tree === undefined) trees.set(table, (tree = treeOf(table)));
  const findings: Findings = { style, faults: [], hints: new Map() };
  walk(tree, body, "", findings);
  const { faults, hints } = findings;
  if (faults.length > 0) throw new ValidationError(faults);
  return [...hints].flatMap(([name, paths]) =>
    paths.length > MAX_NAMED_ENTRIES ? [name] : paths.map((path) => path.replaceAll(/\.(\d+)(?=\.|$)/g, "[$1]")),
  );
}

function walk(node: Node, value: unknown, path: string, findings: Findings): void {
  const { style, faults, hints } = findings;
  if (faults.length >= MAX_DETAILS || value === null || value === undefined) return;
  const { rule, members, entries } = node;
  if (rule !== null && rule.rule !== "honoured") {
    if (rule.neutral?.some((neutral) => isDeepStrictEqual(neutral, value)) === true) return;
    if (rule.rule === "refused") faults.push({ path, message: refusedParameter(rule, style) });
    else noteHint(hints, rule, path);
    return;
  }
  if (rule?.isHint?.(value) === true) {
    noteHint(hints, rule, path);
    return;
  }
  if (entries !== null && Array.isArray(value)) {
    for (const [index, each] of value.entries()) walk(entries, each, joined(path, String(index)), findings);
  }
  if (members.size === 0 || !isJsonObject(value)) return;
  for (const [name, each] of Object.entries(value)) {
    const member = members.get(name);
    if (member !== undefined) walk(member, each, joined(path, name), findings);
    else if (each !== null) faults.push({ path: joined(path, name), message: unknownParameter(name, members, style) });
  }
}

function noteHint(hints: Findings["hints"], { name }: ParameterRule, path: string): void {
  const paths = hints.get(name);
  if (paths === undefined) hints.set(name, [path]);
  else if (paths.length <= MAX_NAMED_ENTRIES) paths.push(path);
}

/** Claude Code repeats a request without the member when it reads this (Anthropic's own wording). */
const EXTRA_INPUT = "Extra inputs are not permitted";

function refusedParameter({ note }: ParameterRule, style: ErrorStyle): string {
  return style === "anthropic" ? `${EXTRA_INPUT}: ${note}` : `is not supported: ${note}`;
}

function unknownParameter(name: string, members: ReadonlyMap<string, Node>, style: ErrorStyle): string {
  if (style === "anthropic") return EXTRA_INPUT;
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
