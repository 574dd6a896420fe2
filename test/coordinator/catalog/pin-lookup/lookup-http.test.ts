import { expect, it } from "vitest";
import { ask } from "../../../../coordinator/catalog/pin-lookup/lookup-http.ts";

it.each([[["10.0.0.1"]], [["192.0.2.1", "169.254.169.254"]], [["::1"]]])(
  "ask() rejects a public name whose addresses are %j",
  async (addresses) => {
    const policy = { hub: "https://hub.example", allowPrivate: false, addressesOf: async () => addresses };
    await expect(
      ask(new URL("https://registry.example/v2/"), { method: "HEAD" }, policy, AbortSignal.timeout(5_000)),
    ).rejects.toThrow("registry.example has a private address");
  },
);
