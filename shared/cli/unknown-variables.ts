import { editDistance, nearestName } from "./nearest-name.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variable that has the program's prefix but that the program does not read. */
interface UnknownVariable {
  readonly name: string;
  /** The known name that the user may have meant. */
  readonly nearest: string | undefined;
}

/** Maximum number of variables named in one line. */
const MAX_NAMED = 5;
/** Maximum edit distance at which a name counts as a misspelling of a known name. */
const MAX_TYPOS = 2;

/** Returns non-empty variables that start with `prefix` and are not among `known`. */
export function unknownVariables(env: Environment, prefix: string, known: readonly string[]): UnknownVariable[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name] !== "" && !known.includes(name))
    .toSorted()
    .map((name) => ({ name, nearest: nearestName(name, known) }));
}

/**
 * Returns variables with the `prefix` of the other program that nearly match a variable of this program, such as
 * ATOLL_SLOTS for ISLAND_SLOTS.
 */
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

/** Returns one line that names the variables without their values, which may be secrets; null if `unknown` is empty. */
export function describeUnknown(unknown: readonly UnknownVariable[]): string | null {
  if (unknown.length === 0) return null;
  const named = unknown
    .slice(0, MAX_NAMED)
    .map(({ name, nearest }) => (nearest === undefined ? name : `${name} (did you mean ${nearest}?)`));
  const more = unknown.length - named.length;
  return `Unknown environment variables: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
