import { beforeEach, describe, expect, it } from "vitest";
import type { JobFile } from "../../../shared/job-files.ts";
import { settle } from "../../support/event-log.ts";
import { makeAssign } from "../builders.ts";
import { ExecutorWorld } from "./executor-world.ts";

const FILE: JobFile = { at: ["audio"], form: "base64", address: "/f", bytes: 1, sha256: "" };

let world: ExecutorWorld;
beforeEach(() => {
  world = new ExecutorWorld(8);
});

/** Names of the jobs whose runs have started. */
const begun = (): string[] => world.runtime.events.all.filter((event) => event.startsWith("held"));

/** A job that runs until the test ends it. */
function assign(name: string, fileBytes: number): void {
  world.fileBytes = fileBytes;
  world.executor.assign(makeAssign({ jobId: name, files: [FILE], script: { name, hold: true } }), null);
}

describe("Executor with large files", () => {
  it("loads the files of two jobs at a time, and does not delay small files", async () => {
    const { runtime, executor } = world;
    for (const name of ["a", "b", "c", "d"]) {
      assign(name, 8_000_000);
      await settle();
    }
    assign("small", 1_000);
    await runtime.events.happened("held small");
    expect(begun()).toEqual(["held a", "held b", "held small"]);
    runtime.go("a");
    await runtime.events.happened("held c");
    expect(begun()).not.toContain("held d");
    for (const name of ["b", "c", "d", "small"]) runtime.go(name);
    await executor.idle();
    expect(executor.counts).toMatchObject({ completed: 5, failed: 0 });
  });

  it("reports progress for a waiting job while other jobs work", async () => {
    const { runtime, executor } = world;
    for (const name of ["a", "b", "c"]) {
      assign(name, 8_000_000);
      await settle();
    }
    const waiting = (): number | undefined => executor.working().find(({ jobId }) => jobId === "c")?.count;
    const before = waiting();
    await settle();
    expect(waiting()).toBe(before);
    runtime.work();
    expect(waiting()).not.toBe(before);
    executor.giveUp();
    await executor.idle();
  });

  it("removes a cancelled job from the queue and continues with the next", async () => {
    const { runtime, executor } = world;
    for (const name of ["a", "b", "c", "d"]) {
      assign(name, 8_000_000);
      await settle();
    }
    executor.cancel({ type: "cancel", jobId: "c", attempt: 1, reason: "cancelled" });
    await settle();
    expect(world.typesOf("c")).toEqual(["accepted", "cancelled"]);
    runtime.go("b");
    await runtime.events.happened("held d");
    for (const name of ["a", "d"]) runtime.go(name);
    await executor.idle();
    expect(executor.counts).toMatchObject({ completed: 3, cancelled: 1 });
  });
});
