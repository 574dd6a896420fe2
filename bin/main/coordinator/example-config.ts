/**
 * Returns a commented TOML file with other values for some top-level keys, including those that are commented out. Keys
 * with undefined values are unchanged. @throws {Error} for a key that the file does not contain.
 */
export function tomlWith(text: string, values: Readonly<Record<string, string | number | undefined>>): string {
  let changed = text;
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const line = new RegExp(`^(?:# )?${key} = .*$`, "m");
    if (!line.test(changed)) throw new Error(`The example shows no ${key}`);
    // A basic string of TOML has the escapes of JSON.
    changed = changed.replace(line, () => `${key} = ${JSON.stringify(value)}`);
  }
  return changed;
}
