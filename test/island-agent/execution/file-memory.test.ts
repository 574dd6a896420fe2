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

/** Names of the jobs whose runs have begun. */
const begun = (): string[] => world.runtime.events.all.filter((event) => event.startsWith("held"));

/** A job whose run lasts until the test ends it. */
function assign(name: string, fileBytes: number): void {
  world.fileBytes = fileBytes;
  world.executor.assign(makeAssign({ jobId: name, files: [FILE], script: { name, hold: true } }), null);
}

describe("jobs with large files", () => {
  it("have them in memory two at a time; small ones do not wait", async () => {
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

  it("are not taken for silent while they wait for others that work", async () => {
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

  it("leave when they are cancelled, and let the next one go on", async () => {
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
