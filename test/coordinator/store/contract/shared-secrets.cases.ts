import { expect, it } from "vitest";
import type { SharedSecrets } from "../../../../coordinator/store/secrets/shared-secrets.ts";

/** Declares the behaviour of every store of secrets. `open` returns the views of two processes on an empty store. */
export function describeSecrets(open: () => Promise<readonly [SharedSecrets, SharedSecrets]>): void {
  const [a, b] = [Buffer.from([0, 1, 255]), Buffer.from("b")];

  it("add() keeps the first value for all concurrent callers", async () => {
    const [here, there] = await open();
    expect(await here.read("proofs")).toBeNull();
    const added = await Promise.all([here.add("proofs", a), there.add("proofs", b)]);
    expect(added[0]).toEqual(added[1]);
    expect([await here.read("proofs"), await there.read("proofs")]).toEqual(added);
    expect(await here.add("proofs", Buffer.from("later"))).toEqual(added[0]);
    expect(await here.read("signing")).toBeNull();
  });

  it("replace() creates or replaces a secret for all processes", async () => {
    const [here, there] = await open();
    await here.replace("signing", a);
    expect(await there.read("signing")).toEqual(a);
    await there.replace("signing", b);
    expect(await here.read("signing")).toEqual(b);
    expect(await here.isPrivate("signing")).toBe(true);
    expect(here.locationOf("signing")).toContain("signing");
  });
}
