import { describe, expect, it } from "vitest";
import { expectNothingLeft, startDemo, useDemoFolder } from "./demo-world.ts";

useDemoFolder();

describe("npm run demo", () => {
  it("shows chat, job, cancellation and usage, and leaves nothing behind", async () => {
    await using demo = startDemo();
    const { code, stdout, stderr } = await demo.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("3, 4, 5, 6, 7, 8, 9.");
    expect(stdout).toContain('"type":"done"');
    expect(stdout).toContain('cancel   {"id":"job_');
    expect(stdout).toMatch(/credits {2}\d/);
    const [, near, far] = /similarity (\S+) to .*, (\S+) to/.exec(stdout) ?? [];
    expect(Number(near)).toBeGreaterThan(Number(far) + 0.3);
    expect(stdout).toMatch(/classify ".*": ok/);
    expect(stdout).toMatch(/draw {5}".*": png, \d+ bytes/);
    expect(stdout).toContain('listen   a voice says "yes"');
    await expectNothingLeft();
  });
});
