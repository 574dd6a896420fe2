/**
 * The text of a commented TOML file in which some top-level keys have other values; also those that are commented out. Undefined ones
 * stay. @throws {Error} for a key that the file does not show.
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
