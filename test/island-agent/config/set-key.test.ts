import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONFIG_FILE_NAME, readConfigFile, storeKey } from "../../../island-agent/config/config-file.ts";
import { setKey } from "../../../island-agent/config/set-key.ts";
import { ISLAND_TOKEN } from "../builders.ts";

function set(text: string, key: string, value: string | null): string {
  return setKey({ name: "config.toml", text }, key, value);
}

describe("setKey()", () => {
  it("writes the first key of an empty file", () => {
    expect(set("", "slots", "2")).toBe("slots = 2\n");
    expect(set("", "coordinator.api_url", "http://a")).toBe('[coordinator]\napi_url = "http://a"\n');
  });
  it("keeps comments, order and the other keys", () => {
    const text =
      "# mine\nslots = 4 # all of them\n\n[models]\n# a small disk\ndisk_budget_gb = 20\n\n[caps]\nram_gb = 8\n";
    expect(set(text, "slots", "2")).toBe(text.replace("slots = 4", "slots = 2"));
    expect(set(text, "models.disk_budget_gb", "30")).toBe(text.replace("= 20", "= 30"));
    expect(set(text, "models.hub_endpoint", "https://m.example")).toBe(
      text.replace("= 20\n", '= 20\nhub_endpoint = "https://m.example"\n'),
    );
    expect(set(text, "threads", "3")).toBe(text.replace("them\n", "them\nthreads = 3\n"));
  });
  it("does not treat a # inside the replaced value as a comment", () => {
    const text = '[models]\nhub_token = "a # b" # secret\n';
    expect(set(text, "models.hub_token", "c")).toBe('[models]\nhub_token = "c" # secret\n');
  });
  it("removes a key", () => {
    expect(set("slots = 4\nthreads = 2\n", "slots", null)).toBe("threads = 2\n");
    expect(set("slots = 4\n", "caps.ram_gb", null)).toBe("slots = 4\n");
  });
  it.each([
    ["an inline table", 'models = { disk_budget_gb = 1, hub_token = "t" }\n'],
    ["dotted keys", 'models.disk_budget_gb = 1\nmodels.hub_token = "t"\n'],
    ["quoted keys", '[models]\n"disk_budget_gb" = 1\nhub_token = "t"\n'],
    ["a text over several lines", '[models]\ndisk_budget_gb = 1\nhub_token = """t"""\n'],
    [
      "a line that looks like the key inside such a text",
      'x = """\n[models]\ndisk_budget_gb = 5\n"""\n[models]\nhub_token = "t"\n',
    ],
  ])("sets the value in a file with %s", (_, text) => {
    expect(parse(set(text, "models.disk_budget_gb", "7"))["models"]).toMatchObject({
      disk_budget_gb: 7,
      hub_token: "t",
    });
  });
  it("refuses values that are not allowed, unknown keys and files that are not TOML", () => {
    expect(() => set("", "slots", "many")).toThrow('slots: must be an integer from 1 to 1000, got "many"');
    expect(() => set("", "slot", "1")).toThrow("slot: unknown key; did you mean slots?");
    expect(() => set("slots = = 1", "slots", "1")).toThrow("config.toml:1:");
  });
  it("writes any value so that it parses to itself", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 50, unit: "binary" }), fc.boolean(), (token, isPresent) => {
        fc.pre(token.isWellFormed() && !/\p{Cc}/u.test(token));
        const before = isPresent ? '[models]\nhub_token = "x" # kept\n[caps]\nram_gb = 1\n' : "";
        expect(parse(set(before, "models.hub_token", token))["models"]).toEqual({ hub_token: token });
      }),
    );
  });
});

describe("config.toml", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-config-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("is null for readConfigFile() if it does not exist", async () => {
    expect(await readConfigFile(join(directory, "none"))).toBeNull();
  });
  it("is created by storeKey() with its folder, readable only by the owner", async () => {
    const data = join(directory, "data");
    await storeKey(data, "coordinator.token", ISLAND_TOKEN);
    expect((await stat(join(data, CONFIG_FILE_NAME))).mode & 0o777).toBe(0o600);
    expect(await readConfigFile(data)).toEqual({
      name: join(data, CONFIG_FILE_NAME),
      text: `[coordinator]\ntoken = "${ISLAND_TOKEN}"\n`,
      isPrivate: true,
    });
  });
  it("is made private by storeKey() if others could read it, without leftovers", async () => {
    const path = join(directory, CONFIG_FILE_NAME);
    await writeFile(path, "slots = 1\n");
    await chmod(path, 0o644);
    expect((await readConfigFile(directory))?.isPrivate).toBe(false);
    await storeKey(directory, "slots", "2");
    expect(await readConfigFile(directory)).toMatchObject({ text: "slots = 2\n", isPrivate: true });
    expect(await readdir(directory)).toEqual([CONFIG_FILE_NAME]);
  });
  it("is not changed by storeKey() if the value is refused", async () => {
    await storeKey(directory, "slots", "2");
    await expect(storeKey(directory, "slots", "0")).rejects.toThrow("slots:");
    expect(await readFile(join(directory, CONFIG_FILE_NAME), "utf8")).toBe("slots = 2\n");
  });
});
