import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { until } from "../support/http/http.ts";
import { Program } from "../support/program.ts";

/** Folder of the files and processes of the current test's demo, separate from other demos. */
let folder: string;

/** Creates a new folder for each test of the file, which must call it once. */
export function useDemoFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "atoll-test-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
}

/** The demo gets an empty home and no sandbox, so that {@link expectNothingLeft} finds its leftovers. */
export const startDemo = (...args: string[]): Program =>
  new Program("main/demo", args, { TMPDIR: folder, HOME: folder, ISLAND_SANDBOX: "off" });

/**
 * Command lines of the demo's processes by process id. These processes have the folder in their arguments or
 * environment.
 */
export async function demoProcesses(): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const commandLine = await readFile(`/proc/${name}/cmdline`, "utf8");
      const environment = await readFile(`/proc/${name}/environ`, "utf8");
      if (`${commandLine}\0${environment}`.includes(folder)) found.set(Number(name), commandLine);
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
  return found;
}

export async function pidOf(program: "coordinator.ts" | "island.ts"): Promise<number> {
  const all = [...(await demoProcesses())];
  return all.find(([, line]) => line.includes(`${program}\0s`))?.[0] as number;
}

export async function expectNothingLeft(): Promise<void> {
  // A process that was killed with its parent remains visible for a moment.
  await until(demoProcesses, (left) => left.size === 0, "all processes are gone");
  expect(await readdir(folder)).toEqual([]);
}

/** Output of `--keep` when both programs are ready. It contains the address, the key, and how to use them. */
export const KEPT = /address {2}(\S+)\nkey {6}(\S+)\n[\s\S]*curl/;
