import { describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { expectNothingLeft, KEPT, startDemo, useDemoFolder } from "./demo-world.ts";

useDemoFolder();

describe("npm run demo -- --keep", () => {
  it("keeps both programs running until a signal, and prints their addresses", async () => {
    await using demo = startDemo("--keep");
    const [, url, key] = await demo.printed(KEPT);
    const { status, body } = await call(url as string, key as string, "POST", "/chat/completions", {
      messages: [{ role: "user", content: "What is 7 plus 8?" }],
      temperature: 0,
    });
    expect([status, body.choices[0].message.content]).toEqual([200, "7 plus 8 is 15."]);
    const addresses = [...demo.stdout.matchAll(/(http\S+\/(?:docs|v1))$/gm)];
    expect(addresses).toHaveLength(2);
    for (const [, address = ""] of addresses) {
      expect((await fetch(address.replace(/v1$/, "v1/health"))).status).toBe(200);
    }
    const [, email, password] = /(\S+@\S+) \(password: (.+)\)/.exec(demo.stdout) ?? [];
    expect((await call(url as string, "", "POST", "/auth/login", { email, password })).status).toBe(200);
    demo.kill("SIGTERM");
    expect((await demo.ended()).code).toBe(0);
    await expectNothingLeft();
  });
});
