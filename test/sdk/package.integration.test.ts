import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedClient, RESULT } from "./packed-client.ts";

let client: PackedClient;
beforeAll(async () => {
  client = await PackedClient.open();
});
afterAll(() => client[Symbol.asyncDispose]());

describe("the built package", () => {
  it("has no dependencies, and all files of its exports", async () => {
    const manifest = JSON.parse(await readFile(join(client.built.installed, "package.json"), "utf8")) as {
      dependencies?: object;
      exports: Record<string, Record<string, string>>;
      files: string[];
    };
    expect(manifest.dependencies).toBeUndefined();
    for (const file of Object.values(manifest.exports["."] ?? {})) {
      expect(existsSync(join(client.built.installed, file))).toBe(true);
      expect(manifest.files).toContain(file.split("/")[1]);
    }
  });

  it("imports only its own files", async () => {
    const all = await readdir(join(client.built.installed, "dist"), { recursive: true });
    const files = all.filter((name) => /\.(js|d\.ts)$/.test(name));
    expect(files.length).toBeGreaterThan(20);
    for (const name of files) {
      const source = await readFile(join(client.built.installed, "dist", name), "utf8");
      // Ignores comments, whose examples may contain "from".
      const code = source.replaceAll(/^\s*\*.*$/gm, "");
      for (const [, to] of code.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)) {
        expect(`${name} imports ${to}`).toMatch(
          /(\.js imports \.{1,2}\/([\w-]+\/)?[\w-]+\.js|\.d\.ts imports \.{1,2}\/([\w-]+\/)?[\w-]+\.ts)$/,
        );
      }
    }
  });

  it("works without a global process", async () => {
    expect(await client.runWithoutProcess(process.execPath)).toEqual(RESULT);
  });
});
