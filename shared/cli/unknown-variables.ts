import { editDistance, nearestName } from "./nearest-name.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variable with a prefix of the program, which does not read it. */
interface UnknownVariable {
  readonly name: string;
  /** Known name that may have been meant. */
  readonly nearest: string | undefined;
}

/** Maximum number of variables named in one line. */
const MAX_NAMED = 5;
/** Maximum edit distance at which a name is taken for a misspelled one. */
const MAX_TYPOS = 2;

/** Returns non-empty variables that begin with `prefix` and are not among `known`. */
export function unknownVariables(env: Environment, prefix: string, known: readonly string[]): UnknownVariable[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name] !== "" && !known.includes(name))
    .toSorted()
    .map((name) => ({ name, nearest: nearestName(name, known) }));
}

/** Returns variables with another program's `prefix` that nearly match ours: ATOLL_SLOTS for ISLAND_SLOTS. */
export function misprefixedVariables(
  env: Environment,
  prefix: string,
  { ownPrefix, known }: { readonly ownPrefix: string; readonly known: readonly string[] },
): UnknownVariable[] {
  return unknownVariables(env, prefix, []).flatMap(({ name }) => {
    const rest = name.slice(prefix.length);
    const meant = rest.startsWith(ownPrefix) ? rest : `${ownPrefix}${rest}`;
    const nearest = nearestName(meant, known);
    return nearest !== undefined && editDistance(meant, nearest) <= MAX_TYPOS ? [{ name, nearest }] : [];
  });
}

/** One line that names the variables without their values, which may be secrets; null if `unknown` is empty. */
export function describeUnknown(unknown: readonly UnknownVariable[]): string | null {
  if (unknown.length === 0) return null;
  const named = unknown
    .slice(0, MAX_NAMED)
    .map(({ name, nearest }) => (nearest === undefined ? name : `${name} (did you mean ${nearest}?)`));
  const more = unknown.length - named.length;
  return `Unknown environment variables: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
