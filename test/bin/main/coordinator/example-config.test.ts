import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { expect, it } from "vitest";
import { tomlWith } from "../../../../bin/main/coordinator/example-config.ts";

const EXAMPLE = readFileSync(new URL("../../../../coordinator/config/example.toml", import.meta.url), "utf8");

it("tomlWith() sets keys of the example, including commented-out ones, and keeps every comment", () => {
  const values = {
    data_directory: String.raw`C:\new "data"`,
    port: 9_000,
    public_url: "https://a.example/$&",
    host: undefined,
  };
  const text = tomlWith(EXAMPLE, values);
  const { host, ...changed } = values;
  expect(parse(text)).toEqual({ ...parse(EXAMPLE), ...changed });
  expect(text.match(/^# \w.*\.$/gm)).toEqual(EXAMPLE.match(/^# \w.*\.$/gm));
  expect(host).toBeUndefined();
});

it("tomlWith() throws for a key that the example does not show", () => {
  expect(() => tomlWith(EXAMPLE, { gone: 1 })).toThrow("shows no gone");
});
