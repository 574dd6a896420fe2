import { expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { CatalogChanges } from "../../../coordinator/cluster/catalog-changes.ts";

const peer = (id: string) => ({ id, address: `http://${id}`, version: "1" });

it("A change of the catalog is read by every other coordinator before tell() resolves; those that fail or are gone stop nobody", async () => {
  const bus = new LocalBus();
  const read: string[] = [];
  const living = ["c1", "c2", "c3", "c4"].map(peer);
  const open = (id: string) =>
    new CatalogChanges({
      bus,
      // It does not know those yet that have just started.
      members: { self: peer(id), living: [peer(id)] },
      cluster: { peers: async () => living },
      refresh: async () => {
        await Promise.resolve();
        if (id === "c2") throw new Error("no storage");
        read.push(id);
      },
    });
  const [one, ...others] = ["c1", "c2", "c3"].map(open);
  await one?.tell();
  expect(read).toEqual(["c3"]);
  for (const other of others) other.close();
  await one?.tell();
  expect(read).toEqual(["c3"]);
  one?.close();
});
