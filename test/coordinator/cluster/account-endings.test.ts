import { expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { AccountEndings } from "../../../coordinator/cluster/account-endings.ts";

const peer = (id: string) => ({ id, address: `http://${id}`, version: "1" });

it("The jobs of a deleted account end at every coordinator that answers; one that does not is reported, and does not stop the others", async () => {
  const bus = new LocalBus();
  const [ended, warnings]: [string[], object[]] = [[], []];
  const living = ["c1", "c2", "c3", "c4"].map(peer);
  const open = (id: string) =>
    new AccountEndings({
      bus,
      members: { self: peer(id), living },
      log: { warn: (facts: object) => void warnings.push(facts) },
      endHere: async (accountId) => {
        ended.push(`${id} ${accountId}`);
        if (id === "c3") throw new Error("no storage");
      },
    });
  const [one] = ["c1", "c2", "c3"].map(open);
  await one?.end("user_1");
  expect(ended.toSorted()).toEqual(["c1 user_1", "c2 user_1", "c3 user_1"]);
  expect(warnings.map((facts) => (facts as { coordinator: string }).coordinator).toSorted()).toEqual(["c3", "c4"]);
  one?.close();
  await expect(bus.request("c1.end_account", { accountId: "user_1" })).rejects.toThrow(/Nobody answers/);
});
