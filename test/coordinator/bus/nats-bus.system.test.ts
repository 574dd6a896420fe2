import { expect, it } from "vitest";
import type { Bus } from "../../../coordinator/bus/bus.ts";
import { openNatsBus } from "../../../coordinator/bus/nats-bus.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { NatsServer } from "../../support/servers/nats-server.ts";
import { withNats } from "../../support/servers/with-servers.ts";
import { describeBus } from "./bus.contract.ts";

await withNats(describeNats);

function describeNats(nats: NatsServer): void {
  const log = { warn: () => undefined, info: () => undefined };
  const open = () => openNatsBus({ servers: nats.address }, "test", { clock: systemClock, log });
  /** Opens two buses and collects the warnings of `there`. */
  async function pair(): Promise<{ here: Bus; there: Bus; warnings: unknown[] }> {
    const warnings: unknown[] = [];
    const warn = ({ err }: { err?: Error }): void => void warnings.push(err?.message);
    return {
      here: await open(),
      there: await openNatsBus({ servers: nats.address }, "there", { clock: systemClock, log: { ...log, warn } }),
      warnings,
    };
  }
  describeBus("NATS", async () => [await open(), await open()]);

  it("a NATS bus opened while its server is away is down, and works once the server starts", async () => {
    await nats.kill();
    const [here, there] = [await open(), await open()];
    const received: unknown[] = [];
    there.subscribe("jobs", (message) => received.push(message));
    there.handle("ask", async () => "yes");
    expect(here.downReason).toMatch(/./);
    await expect(here.request("ask", null, 60_000)).rejects.toMatchObject({ kind: "unreachable" });
    await nats.startAgain();
    await expect.poll(() => [here.downReason, there.downReason], { timeout: 10_000 }).toEqual([null, null]);
    await expect.poll(() => here.request("ask", null, 5_000).catch(String), { timeout: 10_000 }).toBe("yes");
    here.publish("jobs", "kept");
    await expect.poll(() => received).toEqual(["kept"]);
    await here.close();
    await there.close();
  });

  it("a NATS bus reports a request that times out", async () => {
    const [here, there] = [await open(), await open()];
    there.handle("slow", () => new Promise(() => undefined));
    await expect.poll(() => here.request("slow", null, 50).catch(({ kind }) => kind)).toBe("timeout");
    await here.close();
    await there.close();
  });

  it("a NATS bus logs a listener that throws, and continues", async () => {
    const { here, there, warnings } = await pair();
    const received: unknown[] = [];
    there.subscribe("jobs", (message) => {
      if (message === null) throw new Error("There is nothing in it");
      received.push(message);
    });
    there.handle("ask", async () => "yes");
    await expect.poll(() => here.request("ask", null, 5_000).catch(String), { timeout: 10_000 }).toBe("yes");
    for (const message of [1, null, 2]) here.publish("jobs", message);
    await expect.poll(() => received).toEqual([1, 2]);
    expect([warnings, there.downReason]).toEqual([["There is nothing in it"], null]);
    await here.close();
    await there.close();
  });

  it("a NATS bus reports a message that is too large, and continues", async () => {
    const { here, there, warnings } = await pair();
    const large = Buffer.alloc(2_000_000);
    there.handle("ask", async (message) => (message === "large" ? large : "small"));
    await expect.poll(() => here.request("ask", null, 5_000).catch(String), { timeout: 10_000 }).toBe("small");
    await expect(here.request("ask", large, 5_000)).rejects.toMatchObject({ kind: "refused" });
    await expect(here.request("ask", "large", 5_000)).rejects.toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/max_payload/),
    });
    there.publish("jobs", large);
    expect(warnings).toEqual([expect.stringMatching(/max_payload/)]);
    expect(await here.request("ask", null, 5_000)).toBe("small");
    await here.close();
    await there.close();
  });

  it("a NATS bus does not open on a server whose message limit is too small", async () => {
    await using small = await NatsServer.start("max_payload: 64KB");
    await expect(openNatsBus({ servers: small?.address ?? "" }, "test", { clock: systemClock, log })).rejects.toThrow(
      "bus: NATS limits messages to 65536 bytes. Set max_payload on its servers to 1048576 or more",
    );
  });

  it("a NATS bus closes even if its server is stalled or has just stopped", async () => {
    await using still = await NatsServer.start();
    const clock = new ManualClock();
    const one = await openNatsBus({ servers: still?.address ?? "" }, "test", { clock, log });
    const two = await open();
    still?.freeze();
    const closed = one.close();
    clock.advance(2_000);
    await closed;
    still?.thaw();
    await nats.kill();
    await two.close();
    await nats.startAgain();
  });

  it("a NATS bus reports a lost server, refuses requests at once, and works again when the server is back", async () => {
    const [here, there] = [await open(), await open()];
    const changes: boolean[] = [];
    here.onChange((reason) => changes.push(reason === null));
    const received: unknown[] = [];
    there.subscribe("jobs", (message) => received.push(message));
    there.handle("ask", async () => "yes");
    await nats.kill();
    await expect.poll(() => here.downReason).toMatch(/^no connection to 127\.0\.0\.1/);
    await expect(here.request("ask", null, 60_000)).rejects.toMatchObject({ kind: "unreachable" });
    here.publish("jobs", "lost");
    await nats.startAgain();
    await expect.poll(() => [here.downReason, there.downReason], { timeout: 10_000 }).toEqual([null, null]);
    // The request may reach the server before the other bus's subscriptions.
    await expect.poll(() => here.request("ask", null, 5_000).catch(() => null)).toBe("yes");
    here.publish("jobs", "kept");
    await expect.poll(() => received).toEqual(["kept"]);
    expect(changes).toEqual([false, true]);
    await here.close();
    await there.close();
  });
}
