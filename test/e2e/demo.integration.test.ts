import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, until } from "../support/http.ts";
import { Program } from "../support/program.ts";

/** Where the demo keeps what it makes: all of it is seen here, and of no other demo. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "atoll-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const startDemo = (...args: string[]): Program => new Program("main/demo", args, { TMPDIR: folder });

/** Processes that were started with the demo's folder in their arguments or environment, by their command lines. */
async function processesOf(directory: string): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const commandLine = await readFile(`/proc/${name}/cmdline`, "utf8");
      const environment = await readFile(`/proc/${name}/environ`, "utf8");
      if (`${commandLine}\0${environment}`.includes(directory)) found.set(Number(name), commandLine);
    } catch {
      // It has ended since, or is not ours.
    }
  }
  return found;
}

async function pidOf(program: "coordinator.ts" | "island.ts"): Promise<number> {
  const all = [...(await processesOf(folder))];
  return all.find(([, line]) => line.includes(`${program}\0s`))?.[0] as number;
}

async function expectNothingLeft(): Promise<void> {
  // A process that was killed with its parent is seen for a moment longer.
  await until(
    () => processesOf(folder),
    (left) => left.size === 0,
    "all processes are gone",
  );
  expect(await readdir(folder)).toEqual([]);
}

describe("npm run demo", () => {
  it("shows chat, job, cancellation and usage, and leaves nothing behind", async () => {
    await using demo = startDemo();
    const { code, stdout, stderr } = await demo.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("3, 4, 5, 6, 7, 8, 9.");
    expect(stdout).toContain('"type":"done"');
    expect(stdout).toContain('cancel   {"id":"job_');
    expect(stdout).toMatch(/credits {2}\d/);
    await expectNothingLeft();
  });

  it.each([
    ["SIGINT", 130, "while the programs start", /# Starting/],
    ["SIGINT", 130, "when the coordinator listens", /coordinator {2}http/],
    ["SIGTERM", 143, "while a chat is streamed", /# A chat/],
  ] as const)("%s ends it with %i %s, and leaves nothing behind", async (signal, code, _when, moment) => {
    await using demo = startDemo();
    await demo.printed(moment);
    // The demo and a child of it, at the least.
    await until(
      () => processesOf(folder),
      (running) => running.size > 1,
      "a child is started",
    );
    demo.kill(signal);
    expect(await demo.ended()).toMatchObject({ code, stderr: "" });
    await expectNothingLeft();
  });

  it("ends when nobody reads what it says, and leaves nothing behind", async () => {
    await using demo = startDemo();
    await demo.printed(/coordinator {2}http/);
    demo.process.stdout?.destroy();
    expect((await demo.ended()).code).toBe(1);
    await expectNothingLeft();
  });

  it("fails with the reason when the coordinator dies in mid-demo", async () => {
    await using demo = startDemo();
    await demo.printed(/island {7}\S/);
    process.kill(await pidOf("coordinator.ts"), "SIGKILL");
    const { code, stderr } = await demo.ended();
    expect(code).toBe(1);
    expect(stderr).toContain("The demo failed: ");
    await expectNothingLeft();
  });
});

describe("npm run demo -- --keep", () => {
  const KEPT = /address {2}(\S+)\nkey {6}(\S+)\n[\s\S]*curl/;

  it("leaves both running and prints how to reach them, until a signal", async () => {
    await using demo = startDemo("--keep");
    const [, url, key] = await demo.printed(KEPT);
    const { status, body } = await call(url as string, key as string, "POST", "/chat/completions", {
      messages: [{ role: "user", content: "What is 7 plus 8?" }],
      temperature: 0,
    });
    expect([status, body.choices[0].message.content]).toEqual([200, "7 plus 8 is 15."]);
    demo.kill("SIGTERM");
    expect((await demo.ended()).code).toBe(0);
    await expectNothingLeft();
  });

  it.each(["coordinator.ts", "island.ts"] as const)("ends with the reason when %s dies", async (program) => {
    await using demo = startDemo("--keep");
    await demo.printed(KEPT);
    process.kill(await pidOf(program), "SIGKILL");
    const { code, stderr } = await demo.ended();
    expect(code).toBe(1);
    expect(stderr).toContain(`The demo failed: the ${program.replace(".ts", "")} ended with SIGKILL`);
    await expectNothingLeft();
  });
});
