import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Network } from "../support/network/network.ts";
import type { Program } from "../support/program.ts";
import { BuiltPackage, SDK, TSC } from "./built-package.ts";

/** Expected output of each example by its heading. */
const PRINTED: Readonly<Record<string, string | RegExp>> = {
  "Chat 1": "7 plus 8 is 15.\n3, 4, 5, 6, 7, 8, 9.",
  "Jobs 1": "3, 4, 5, 6, 7, 8, 9. true\ncompleted 3, 4, 5, 6, 7, 8, 9.\n",
  "Jobs 2": "cancelled false\ntrue cancelled\n",
  "Events 1": "completed\n",
  // At temperature 0.7 the small model sometimes adds wrongly.
  "Batches 1": /^completed 2\n2 plus 3 is \d\.\n4 plus 4 is \d\.\n$/,
  "Conversations 1": "7 plus 8 is 15.\nuser What is 7 plus 8?\nassistant 7 plus 8 is 15.\n",
  "Catalog, account and keys 1":
    /^(?=[^]*tiny-chat \d)[^]*object object\ntrue\n[^]*hold true\n[^]*grant false\ntrue\n[\d.]+ [\d.]+\n$/,
  "Errors 1": /^\[\s+\{\s+path: '[^]*\}\s+\]\n$/,
};

const examples = examplesOf(await readFile(join(SDK, "README.md"), "utf8"));
let built: BuiltPackage;
let network: Network;
let key: string;
let island: Program;
beforeAll(async () => {
  built = await BuiltPackage.build();
  network = await Network.open();
  const account = network.createAccount("client@example.com");
  key = account.key;
  island = await network.startIsland("island", account.islandToken);
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await built[Symbol.asyncDispose]();
});

describe("README.md of the client", () => {
  it("has only examples known to this test", () => {
    expect(Object.keys(examples)).toEqual(Object.keys(PRINTED));
  });

  it("has examples that compile in strict mode", async () => {
    const files = await Promise.all(
      Object.values(examples).map(async (code, index) => {
        await writeFile(join(built.directory, `example-${index}.mts`), code);
        return `example-${index}.mts`;
      }),
    );
    // Verifies that the types are present, because everything would compile without them.
    const wrong = `import { Atoll } from "@atoll/client";
      // @ts-expect-error -- a number is not a Cargo
      void new Atoll().jobs.submit({ workload: 7, input: {} });
      // @ts-expect-error -- no such member
      void new Atoll().jobs.get("job_1").then((job) => job.colour);`;
    await writeFile(join(built.directory, "wrong.mts"), wrong);
    files.push("wrong.mts");
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    const platform = ["--module", "nodenext", "--target", "es2023", "--lib", "es2023,dom,dom.asynciterable"];
    await writeFile(
      join(built.directory, "node.d.ts"),
      "declare const process: { stdout: { write(text: string): void } };\n",
    );
    await built.node([TSC, "--noEmit", ...strict, ...platform, "node.d.ts", ...files]);
  });

  it.each(Object.entries(PRINTED))("%s prints the expected output, with a real Island", async (title, printed) => {
    await writeFile(join(built.directory, "example.mts"), examples[title] ?? "");
    const env = { ATOLL_BASE_URL: network.url, ATOLL_API_KEY: key };
    // The demo model is too fast for the example that cancels a job.
    const isCancel = examples[title]?.includes("jobs.cancel(") === true;
    if (isCancel) island.process.kill("SIGSTOP");
    try {
      const output = await built.node(["example.mts"], env);
      if (typeof printed === "string") expect(output).toBe(printed);
      else expect(output).toMatch(printed);
    } finally {
      island.process.kill("SIGCONT");
    }
  });
});

function examplesOf(markdown: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const section of markdown.split(/^## /m).slice(1)) {
    const heading = section.split("\n")[0] ?? "";
    for (const [index, [, code]] of [...section.matchAll(/^```ts\n([^]*?)^```$/gm)].entries()) {
      found[`${heading} ${index + 1}`] = code ?? "";
    }
  }
  return found;
}
