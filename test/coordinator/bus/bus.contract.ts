import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bus } from "../../../coordinator/bus/bus.ts";

/** Tests the behaviour that every bus guarantees. `open` returns two connected buses, or the same bus twice. */
export function describeBus(name: string, open: () => Promise<readonly [Bus, Bus]>): void {
  describe(`Bus contract: ${name}`, () => {
    let [here, there]: readonly [Bus, Bus] = [] as never;
    beforeEach(async () => {
      [here, there] = await open();
    });
    afterEach(async () => {
      await here.close();
      await there.close();
    });
    /** Waits until both buses know all subscriptions. */
    const settle = async (): Promise<void> => {
      const done = there.handle("settle", async () => null);
      await expect
        .poll(() => here.request("settle", null, 1_000).catch(() => "not yet"), { timeout: 20_000 })
        .toBe(null);
      done();
    };

    it("publish() reaches all subscribers in order, and only them", async () => {
      const received: unknown[] = [];
      const stop = there.subscribe("jobs", (message) => received.push(message));
      here.subscribe("other", (message) => received.push(["other", message]));
      await settle();
      const messages = [1, { id: "job_1", text: "ä\0", bytes: Buffer.from("x") }, null];
      for (const message of messages) here.publish("jobs", message);
      await expect.poll(() => received.length).toBe(3);
      expect(received).toEqual(messages);
      stop();
      stop();
      here.publish("jobs", 4);
      await settle();
      expect(received).toHaveLength(3);
    });

    it("publish() also reaches the publisher, but not during the call", async () => {
      const received: unknown[] = [];
      here.subscribe("jobs", (message) => received.push(message));
      await settle();
      here.publish("jobs", 1);
      expect(received).toEqual([]);
      await expect.poll(() => received).toEqual([1]);
    });

    it("request() resolves with the reply, and rejects with the error of the handler", async () => {
      there.handle("double", async (message) => {
        if (typeof message !== "number") throw new Error("not a number");
        return message * 2;
      });
      await settle();
      expect(await here.request("double", 21, 1_000)).toBe(42);
      await expect(here.request("double", "x", 1_000)).rejects.toMatchObject({
        kind: "refused",
        message: "not a number",
      });
    });

    it("request() without a responder fails at once as unreachable", async () => {
      await expect(here.request("nobody", null, 60_000)).rejects.toMatchObject({ kind: "unreachable" });
      const stop = there.handle("gone", async () => 1);
      await settle();
      stop();
      await settle();
      await expect(here.request("gone", null, 60_000)).rejects.toMatchObject({ kind: "unreachable" });
    });
  });
}
