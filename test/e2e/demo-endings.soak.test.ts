import { describe, expect, it } from "vitest";
import { until } from "../support/http/http.ts";
import { demoProcesses, expectNothingLeft, KEPT, pidOf, startDemo, useDemoFolder } from "./demo-world.ts";

useDemoFolder();

describe("npm run demo", () => {
  const SIGNALS = [
    ["SIGINT", 130, "while the programs start", /# Starting/],
    ["SIGTERM", 143, "while a chat is streamed", /# A chat/],
    ["SIGINT", 130, "when the coordinator listens", /coordinator {2}http/],
  ] as const;
  it.each(SIGNALS)("exits on %s with %i %s, and leaves nothing behind", async (signal, code, _when, moment) => {
    await using demo = startDemo();
    await demo.printed(moment);
    // The demo has at least its own process and one child.
    await until(demoProcesses, (running) => running.size > 1, "a child is started");
    demo.kill(signal);
    expect(await demo.ended()).toMatchObject({ code, stderr: "" });
    await expectNothingLeft();
  });

  it("ends when its output is closed, and leaves nothing behind", async () => {
    await using demo = startDemo();
    await demo.printed(/coordinator {2}http/);
    demo.process.stdout?.destroy();
    expect((await demo.ended()).code).toBe(1);
    await expectNothingLeft();
  });

  it("fails with the reason when the coordinator crashes during the demo", async () => {
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
  it.each(["coordinator.ts", "island.ts"] as const)("ends with the reason when %s crashes", async (program) => {
    await using demo = startDemo("--keep");
    await demo.printed(KEPT);
    process.kill(await pidOf(program), "SIGKILL");
    const { code, stderr } = await demo.ended();
    expect(code).toBe(1);
    expect(stderr).toContain(`The demo failed: The ${program.replace(".ts", "")} ended with SIGKILL`);
    await expectNothingLeft();
  });
});
