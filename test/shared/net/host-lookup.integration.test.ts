import { describe, expect, it } from "vitest";
import { publicLookup } from "../../../shared/net/host-lookup.ts";

describe("publicLookup()", () => {
  const refusal = (host: string): Error => new Error(`${host} is private`);

  it("returns the addresses that it checked, so that a name cannot change its address afterwards", async () => {
    const addresses = ["1.1.1.1", "127.0.0.1"];
    const lookup = publicLookup(async () => [{ address: addresses.shift() ?? "", family: 4 }], refusal);
    const connectTo = await new Promise((resolve) => {
      lookup("files.example", { all: true }, (_error, addresses) => resolve(addresses));
    });
    expect(connectTo).toEqual([{ address: "1.1.1.1", family: 4 }]);
    expect(addresses).toEqual(["127.0.0.1"]);
  });

  it("reports a host without addresses of the requested family as not found", async () => {
    const lookup = publicLookup(async () => [{ address: "1.1.1.1", family: 4 }], refusal);
    const error = await new Promise((resolve) => lookup("files.example", { family: 6 }, resolve));
    expect(error).toMatchObject({ code: "ENOTFOUND" });
  });
});
