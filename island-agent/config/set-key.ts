import { isDeepStrictEqual } from "node:util";
import { parse, stringify, type TomlTable } from "smol-toml";
import { ConfigError, readTomlKeys, unknownKey, type ConfigFile, type Setting } from "../../shared/settings.ts";
import { AGENT_SETTINGS } from "./agent-settings.ts";

type Native = string | number | boolean;

/**
 * Returns the file's text with `key` set to `value`, as a user types it; null removes the key. Keeps comments and
 * order. Files that cannot be edited line by line (inline tables, values over several lines) are rewritten.
 * @throws {ConfigError} for an unknown key, an invalid value, or a file that is not TOML.
 */
export function setKey(file: ConfigFile, key: string, value: string | null): string {
  const entries: Setting<unknown>[] = Object.values(AGENT_SETTINGS);
  const entry = entries.find((candidate) => candidate.key === key);
  if (entry === undefined)
    throw new ConfigError([
      unknownKey(
        key,
        entries.map((candidate) => candidate.key),
      ),
    ]);
  const native = value === null ? null : nativeOf(entry, value);
  readTomlKeys(file);
  const wanted = withKey(parse(file.text), key.split("."), native);
  const edited = editLines(file.text, key, native);
  return isSameToml(edited, wanted) ? edited : stringify(wanted);
}

function nativeOf(entry: Setting<unknown>, value: string): Native {
  const native = entry.fromText(value);
  if (entry.check(native) === undefined) {
    const shown = entry.isSecret ? "(hidden)" : JSON.stringify(value);
    throw new ConfigError([`${entry.key}: must be ${entry.allowed}, got ${shown}`]);
  }
  return native as Native;
}

function withKey(table: TomlTable, [name = "", ...rest]: readonly string[], native: Native | null): TomlTable {
  const copy: TomlTable = { ...table };
  const inner = copy[name];
  if (rest.length > 0) {
    const isTable = Object.prototype.toString.call(inner) === "[object Object]";
    if (isTable || native !== null) copy[name] = withKey(isTable ? (inner as TomlTable) : {}, rest, native);
  } else if (native === null) {
    delete copy[name];
  } else {
    copy[name] = native;
  }
  return copy;
}

/** Replaces, adds or removes one line. The result may be wrong for unusual files, so the caller verifies it. */
function editLines(text: string, key: string, native: Native | null): string {
  const section = key.includes(".") ? key.slice(0, key.lastIndexOf(".")) : "";
  const name = key.slice(key.lastIndexOf(".") + 1);
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const start = section === "" ? -1 : lines.findIndex((line) => headerOf(line) === section);
  const line = native === null ? [] : [`${name} = ${JSON.stringify(native)}`];
  if (section !== "" && start === -1) return joinLines(native === null ? lines : [...lines, `[${section}]`, ...line]);
  const next = lines.findIndex((candidate, index) => index > start && headerOf(candidate) !== null);
  const end = next === -1 ? lines.length : next;
  const present = lines.findIndex((candidate, index) => index > start && index < end && nameOf(candidate) === name);
  if (present !== -1) {
    const comment =
      native === null ? "" : (/^[^"'#]*(?:"[^"\\]*"|'[^']*')?[^"'#]*?(\s+#.*)$/.exec(lines[present] ?? "")?.[1] ?? "");
    return joinLines(lines.toSpliced(present, 1, ...line.map((replacement) => `${replacement}${comment}`)));
  }
  let last = end;
  while (last > start + 1 && lines[last - 1]?.trim() === "") last--;
  return joinLines(lines.toSpliced(last, 0, ...line));
}

function headerOf(line: string): string | null {
  return /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1]?.trim() ?? null;
}

function nameOf(line: string): string | null {
  return /^\s*([A-Za-z0-9_-]+)\s*=/.exec(line)?.[1] ?? null;
}

function joinLines(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function isSameToml(text: string, wanted: TomlTable): boolean {
  try {
    return isDeepStrictEqual(toPlainObject(parse(text)), toPlainObject(wanted));
  } catch {
    // The line edit did not produce TOML: the caller rewrites the file.
    return false;
  }
}

/** Removes the prototypes, which smol-toml's tables lack. */
function toPlainObject(table: TomlTable): unknown {
  return JSON.parse(JSON.stringify(table));
}
