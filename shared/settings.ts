import { parse, TomlError } from "smol-toml";
import { nearestName } from "./cli/nearest-name.ts";

/**
 * One key of a configuration. `T` is the value in the program's units; files, flags and variables use the units of the
 * key.
 */
export interface Setting<T> {
  /** Key as in the file; a dot stands for a table ("models.disk_budget_gb"). */
  readonly key: string;
  readonly meaning: string;
  /** Heading of the help and of the documents under which the setting is listed. Set by {@link settingGroup}. */
  readonly group?: string;
  /** Type of the value, as the help of a flag shows it: "<seconds>". */
  readonly type: string;
  /** Completes "must be …": "an integer from 0 to 65535". */
  readonly allowed: string;
  /** Default in the key's units; null if the key is unset by default. */
  readonly fallback: string | number | boolean | null;
  /** Description of the default of an unset key, if it is not "unset". */
  readonly unsetMeans: string | null;
  /** Whether the value is secret. A secret is never shown and has no flag, because other users can see flags. */
  readonly isSecret: boolean;
  /** Whether the value is never shown, because it is a secret or an address that may contain a password. */
  readonly isHidden: boolean;
  /** Whether the key is a table of the file that forms one value. Otherwise a table is a group of keys. */
  readonly isTable?: boolean;
  /** Converts the text of a flag or variable to a native value; undefined if invalid. */
  readonly fromText: (text: string) => unknown;
  /** Converts a native value to the program's value; undefined if it is not allowed. */
  readonly check: (native: unknown) => T | undefined;
}
type SettingsTable = Readonly<Record<string, Setting<unknown>>>;
export type Settings<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};

interface Common<Fallback> {
  readonly fallback: Fallback;
  readonly meaning: string;
  /** Given only if the type does not follow from the kind of setting and the unit at the end of its key. */
  readonly type?: string;
  readonly unsetMeans?: string;
}

/** Types of values by the unit at the end of a key. */
const UNIT_TYPES = { ms: "<ms>", s: "<seconds>", days: "<days>", mb: "<MB>", gb: "<GB>" } as const;

/** Lists the settings of `table` under `group`. An `object` parameter keeps their literal types. */
export function settingGroup<Table extends object>(group: string, table: Table): Table {
  const entries = Object.entries(table as SettingsTable);
  return Object.fromEntries(entries.map(([name, entry]) => [name, { ...entry, group }])) as Table;
}

/** Constructors of settings. A null `fallback` makes the key optional and its value nullable. */
export const setting = {
  text: <F extends string | null>(key: string, options: Common<F> & { isSecret?: boolean }): Setting<string | F> => ({
    ...common(key, options, "<text>"),
    isSecret: options.isSecret ?? false,
    isHidden: options.isSecret ?? false,
    allowed: "one line of 1 to 1000 characters",
    check: (native) => (typeof native === "string" && /^\P{Cc}{1,1000}$/u.test(native) ? native : undefined),
  }),
  /** An http or https URL, without its trailing slash. */
  url: <F extends string | null>(key: string, options: Common<F>): Setting<string | F> => ({
    ...common(key, options, "<url>"),
    allowed: "an http or https URL",
    check: (native) => (typeof native === "string" ? readBaseUrl(native) : undefined),
  }),
  choice: <T extends string, F extends T | null>(
    key: string,
    choices: readonly T[],
    options: Common<F>,
  ): Setting<T | F> => ({
    ...common(key, options, `<${choices.join("|")}>`),
    allowed: `one of ${choices.join(", ")}`,
    check: (native) => choices.find((choice) => choice === native),
  }),
  /**
   * Creates an optional text setting. `parse` returns undefined for an invalid text. The value is null if the setting
   * is unset.
   */
  parsed: <T>(
    key: string,
    options: Common<null> & {
      allowed: string;
      parse: (text: string) => T | undefined;
      isSecret?: boolean;
      isHidden?: boolean;
    },
  ): Setting<T | null> => ({
    ...common(key, options, "<text>"),
    isSecret: options.isSecret ?? false,
    isHidden: options.isHidden ?? options.isSecret ?? false,
    allowed: options.allowed,
    check: (native) => (typeof native === "string" ? options.parse(native) : undefined),
  }),
  boolean: (key: string, options: Common<boolean>): Setting<boolean> => ({
    ...common(key, options, "<true|false>"),
    allowed: "true or false",
    fromText: (text) => ({ true: true, false: false })[text],
    check: (native) => (typeof native === "boolean" ? native : undefined),
  }),
  integer: <F extends number | null>(key: string, options: Common<F> & Range): Setting<number | F> => ({
    ...common(key, options, numberType(key, "<n>")),
    allowed: `an integer from ${options.min} to ${options.max}`,
    fromText: (text) => (/^[+-]?\d+$/.test(text) ? Number(text) : undefined),
    check: (native) => (Number.isInteger(native) && isWithin(native, options) ? native : undefined),
  }),
  /** Creates a setting for a number, which may have fractions. With `factor`, the program gets the rounded product. */
  number: <F extends number | null>(
    key: string,
    options: Common<F> & Range & { factor?: number },
  ): Setting<number | F> => ({
    ...common(key, options, numberType(key, "<number>")),
    allowed: `a number from ${options.min} to ${options.max}`,
    fromText: (text) => (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : undefined),
    check: (native) => {
      if (!isWithin(native, options)) return undefined;
      return options.factor === undefined ? native : Math.round(native * options.factor);
    },
  }),
};

/** Returns an http or https URL without its trailing slash; undefined for any other text. */
export function readBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, "") : undefined;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function isWithin(native: unknown, { min, max }: Range): native is number {
  return typeof native === "number" && native >= min && native <= max;
}

function numberType(key: string, otherwise: string): string {
  const unit = Object.entries(UNIT_TYPES).find(([name]) => key.endsWith(`_${name}`));
  return unit?.[1] ?? otherwise;
}

function common<F extends string | number | boolean | null>(key: string, options: Common<F>, usualType: string) {
  const { meaning, fallback, unsetMeans = null, type = usualType } = options;
  return {
    key,
    meaning,
    type,
    fallback,
    unsetMeans,
    isSecret: false,
    isHidden: false,
    fromText: (text: string): unknown => text,
  };
}

/** The configuration is invalid. One line per problem: source, allowed values, and the value found. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.problems = problems;
  }
}

export interface ConfigFile {
  /** Path of the file, for messages. */
  readonly name: string;
  readonly text: string;
}

/** Sources of values. A flag overrides a variable, a variable the file, the file the default. */
export interface SettingSources {
  /** Flags by camel-cased name ("dataDirectory"), as commander returns them. A flag that is undefined is unset. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Environment variables. An empty variable is unset. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigFile | null;
}

export interface ResolvedSetting {
  readonly key: string;
  /** Value as text in the key's units; "(hidden)" for a secret, null if unset. */
  readonly shown: string | null;
  readonly source: "flag" | "environment" | "file" | "default";
}

/**
 * Resolves the values of all settings of `table` and their sources.
 * @throws {ConfigError} with all problems, including unknown keys of the file
 */
export function resolveSettings<Table extends SettingsTable>(
  table: Table,
  envPrefix: string,
  sources: SettingSources,
): { values: Settings<Table>; resolved: ResolvedSetting[] } {
  const problems: string[] = [];
  const resolved: ResolvedSetting[] = [];
  const values: Record<string, unknown> = {};
  const known = new Map(Object.values(table).map((entry) => [entry.key, entry]));
  const isWhole = (key: string): boolean => known.get(key)?.isTable === true;
  const inFile = sources.file === null ? new Map<string, unknown>() : readTomlKeys(sources.file, isWhole);
  for (const key of inFile.keys()) {
    if (!known.has(key)) problems.push(`${sources.file?.name}: ${unknownKey(key, [...known.keys()])}`);
  }
  for (const [name, entry] of Object.entries(table)) {
    const found = findValue(entry, envPrefix, sources, inFile);
    const native = typeof found.raw === "string" && found.isText ? entry.fromText(found.raw) : found.raw;
    const value = native === null && entry.fallback === null ? null : entry.check(native);
    if (value === undefined) {
      const shown = entry.isHidden ? "(hidden)" : JSON.stringify(found.raw);
      problems.push(`${found.where}: must be ${entry.allowed}, got ${shown}`);
    }
    values[name] = value;
    resolved.push({ key: entry.key, shown: show(entry, native), source: found.source });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { values: Object.freeze(values) as Settings<Table>, resolved };
}

interface FoundValue {
  readonly raw: unknown;
  readonly isText: boolean;
  readonly source: ResolvedSetting["source"];
  readonly where: string;
}

function findValue(
  entry: Setting<unknown>,
  envPrefix: string,
  { flags, env, file }: SettingSources,
  inFile: ReadonlyMap<string, unknown>,
): FoundValue {
  const flag = flagOf(entry);
  const fromFlag = flag === null ? undefined : flags[camelCase(flag)];
  if (flag !== null && fromFlag !== undefined) return { raw: fromFlag, isText: true, source: "flag", where: flag };
  const variable = variableOf(entry, envPrefix);
  const fromEnv = env[variable];
  if (fromEnv !== undefined && fromEnv !== "") {
    return { raw: fromEnv, isText: true, source: "environment", where: variable };
  }
  if (inFile.has(entry.key)) {
    return { raw: inFile.get(entry.key), isText: false, source: "file", where: `${file?.name}: ${entry.key}` };
  }
  return { raw: entry.fallback, isText: false, source: "default", where: `default of ${entry.key}` };
}

/**
 * Returns the file's values by dotted key. A table for which `isWhole` is true is one value. @throws {ConfigError} with
 * line and column if the file is not TOML
 */
export function readTomlKeys(file: ConfigFile, isWhole: (key: string) => boolean = () => false): Map<string, unknown> {
  const keys = new Map<string, unknown>();
  const walk = (table: object, prefix: string): void => {
    for (const [name, value] of Object.entries(table) as [string, unknown][]) {
      const isTable = Object.prototype.toString.call(value) === "[object Object]";
      if (isTable && !isWhole(`${prefix}${name}`)) walk(value as object, `${prefix}${name}.`);
      else keys.set(`${prefix}${name}`, value);
    }
  };
  try {
    walk(parse(file.text), "");
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ""] = error.message.split("\n");
    throw new ConfigError([`${file.name}:${error.line}:${error.column}: ${message}`], { cause: error });
  }
  return keys;
}

/** Returns a message for an unknown key, with the most similar known key. */
export function unknownKey(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return `${key}: unknown key${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
}

export interface SettingDescription {
  readonly key: string;
  /** Null for secrets. */
  readonly flag: string | null;
  readonly env: string;
  /** Default in the key's units, or the meaning of an unset key. */
  readonly fallback: string;
  readonly type: string;
  readonly allowed: string;
  readonly meaning: string;
  readonly group: string;
}

/** Returns the table as data for documentation: one entry per key, in order. */
export function describeSettings(table: SettingsTable, envPrefix: string): SettingDescription[] {
  return Object.values(table).map((entry) => ({
    key: entry.key,
    flag: flagOf(entry),
    env: variableOf(entry, envPrefix),
    fallback: (show(entry, entry.fallback) || entry.unsetMeans) ?? "unset",
    type: entry.type,
    allowed: entry.allowed,
    meaning: entry.meaning,
    group: entry.group ?? "",
  }));
}

function show(entry: Setting<unknown>, native: unknown): string | null {
  if (native === null || native === undefined) return null;
  if (entry.isHidden) return "(hidden)";
  return typeof native === "string" ? native : JSON.stringify(native);
}

function flagOf(entry: Setting<unknown>): string | null {
  return entry.isSecret ? null : `--${entry.key.replaceAll(/[._]/g, "-")}`;
}

function variableOf(entry: Setting<unknown>, envPrefix: string): string {
  return `${envPrefix}${entry.key.replaceAll(".", "_").toUpperCase()}`;
}

function camelCase(flag: string): string {
  return flag.replace(/^--/, "").replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
