import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { Program } from "../support/program.ts";
import { call } from "../support/http.ts";

const leftovers = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith("atoll-demo-"));

describe("npm run demo", () => {
  it("shows chat, job, cancellation and usage, and leaves nothing behind", async () => {
    const before = await leftovers();
    await using demo = new Program("main/demo", []);
    const { code, stdout, stderr } = await demo.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("3, 4, 5, 6, 7, 8, 9.");
    expect(stdout).toContain('"type":"done"');
    expect(stdout).toContain('cancel   {"id":"job_');
    expect(stdout).toMatch(/credits {2}\d/);
    expect(await leftovers()).toEqual(before);
  });

  it("--keep leaves both running and prints how to reach them", async () => {
    await using demo = new Program("main/demo", ["--keep"]);
    const [, url, key] = await demo.printed(/address {2}(\S+)\nkey {6}(\S+)\n[\s\S]*curl/);
    const { status, body } = await call(url as string, key as string, "POST", "/chat/completions", {
      messages: [{ role: "user", content: "What is 7 plus 8?" }],
      temperature: 0,
    });
    expect([status, body.choices[0].message.content]).toEqual([200, "7 plus 8 is 15."]);
    demo.kill("SIGTERM");
    expect((await demo.ended()).code).toBe(0);
  });
});
