import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { IS_POSTGRES } from "../../support/store/test-store.ts";

let coordinator: TestCoordinator;
let key: string;
beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  ({ key } = await coordinator.createAccount("client@example.com"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await coordinator[Symbol.asyncDispose]();
});

/**
 * Records the statements that this thread runs from now on, except for two statements that the coordinator runs
 * periodically.
 */
function watchStatements(): string[] {
  const db = new Database(":memory:");
  const prototype = Object.getPrototypeOf(db.prepare("SELECT 1")) as Record<"get" | "all" | "run", () => unknown>;
  db.close();
  const sources: string[] = [];
  for (const name of ["get", "all", "run"] as const) {
    const original = prototype[name];
    vi.spyOn(prototype, name).mockImplementation(function (this: { source: string }, ...args: []) {
      if (!/catalog_revision|completed_at_ms >=/.test(this.source)) sources.push(this.source);
      return original.apply(this, args);
    });
  }
  return sources;
}

describe("a submission with a known key", () => {
  const job = { workload: "tiny-chat", input: { prompt: "Hi" } };

  it("serializes its input once", async () => {
    const stringify = vi.spyOn(JSON, "stringify");
    expect((await call(coordinator.url, key, "POST", "/jobs", job)).status).toBe(201);
    const ofInput = stringify.mock.calls.filter(([value]: unknown[]) => {
      return typeof value === "object" && value !== null && "prompt" in value && typeof value.prompt === "string";
    });
    expect(ofInput).toHaveLength(1);
  });

  it.skipIf(IS_POSTGRES)("runs one statement in the main thread, which reads one number", async () => {
    const sources = watchStatements();
    const runs: string[][] = [];
    for (let submission = 0; submission < 10; submission += 1) {
      sources.length = 0;
      expect((await call(coordinator.url, key, "POST", "/jobs", job)).status).toBe(201);
      runs.push([...sources]);
    }
    // On a busy machine, some runs may include the statement of a timer.
    const [fewest] = runs.toSorted((a, b) => a.length - b.length);
    expect(fewest).toEqual(["SELECT revision FROM credentials_revision"]);
  });
});
