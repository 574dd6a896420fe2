/**
 * Returns a commented TOML file in which the given top-level keys have the given values. Keys that are commented out
 * become active. A key whose value is undefined is unchanged. @throws {Error} for a key that the file does not contain.
 */
export function tomlWith(text: string, values: Readonly<Record<string, string | number | undefined>>): string {
  let changed = text;
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const line = new RegExp(`^(?:# )?${key} = .*$`, "m");
    if (!line.test(changed)) throw new Error(`The example shows no ${key}`);
    // A basic string in TOML uses the same escapes as JSON.
    changed = changed.replace(line, () => `${key} = ${JSON.stringify(value)}`);
  }
  return changed;
}
