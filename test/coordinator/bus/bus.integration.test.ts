import { expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { NatsBus } from "../../../coordinator/bus/nats-bus.ts";
import type { NatsServer } from "../../support/nats-server.ts";
import { withNats } from "../../support/with-servers.ts";
import { describeBus } from "./bus.contract.ts";

describeBus("local", async () => {
  const bus = new LocalBus();
  return [bus, bus];
});

await withNats("the bus on NATS", describeNats);

function describeNats(nats: NatsServer): void {
  const log = { warn: () => undefined, info: () => undefined };
  const open = () => NatsBus.open({ servers: nats.address }, "test", log);
  describeBus("NATS", async () => [await open(), await open()]);

  it("a bus that is opened while its server is away is down, and whole when the server comes", async () => {
    await nats.kill();
    const [here, there] = [await open(), await open()];
    const heard: unknown[] = [];
    there.subscribe("jobs", (message) => heard.push(message));
    there.answer("ask", async () => "yes");
    expect(here.downBecause).toMatch(/./);
    await expect(here.request("ask", null, 60_000)).rejects.toMatchObject({ kind: "unreachable" });
    await nats.startAgain();
    await expect.poll(() => [here.downBecause, there.downBecause], { timeout: 10_000 }).toEqual([null, null]);
    await expect.poll(() => here.request("ask", null, 5_000).catch(String), { timeout: 10_000 }).toBe("yes");
    here.publish("jobs", "kept");
    await expect.poll(() => heard).toEqual(["kept"]);
    await here.close();
    await there.close();
  });

  it("request() that is not answered in time says so", async () => {
    const [here, there] = [await open(), await open()];
    there.answer("slow", () => new Promise(() => undefined));
    await expect.poll(() => here.request("slow", null, 50).catch(({ kind }) => kind)).toBe("timeout");
    await here.close();
    await there.close();
  });

  it("a bus says that its server is gone, refuses at once, and is whole again with the server", async () => {
    const [here, there] = [await open(), await open()];
    const changes: boolean[] = [];
    here.onChange((because) => changes.push(because === null));
    const heard: unknown[] = [];
    there.subscribe("jobs", (message) => heard.push(message));
    there.answer("ask", async () => "yes");
    await nats.kill();
    await expect.poll(() => here.downBecause).toMatch(/^no connection to 127\.0\.0\.1/);
    await expect(here.request("ask", null, 60_000)).rejects.toMatchObject({ kind: "unreachable" });
    here.publish("jobs", "lost");
    await nats.startAgain();
    await expect.poll(() => [here.downBecause, there.downBecause], { timeout: 10_000 }).toEqual([null, null]);
    expect(await here.request("ask", null, 5_000)).toBe("yes");
    here.publish("jobs", "kept");
    await expect.poll(() => heard).toEqual(["kept"]);
    expect(changes).toEqual([false, true]);
    await here.close();
    await there.close();
  });
}
