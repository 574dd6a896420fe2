import { expect, it } from "vitest";
import { rememberSignatures } from "../../../island-agent/session/cargo-trust.ts";
import { makeManifest } from "../builders.ts";

const cargo = makeManifest();

/** Records verifications. The signature "good" is valid only for {@link cargo}. */
function make(): { isValid: ReturnType<typeof rememberSignatures>; verified: string[] } {
  const verified: string[] = [];
  const isValid = rememberSignatures((manifest, signature) => {
    verified.push(signature);
    return signature === "good" && JSON.stringify(manifest) === JSON.stringify(cargo);
  });
  return { isValid, verified };
}

it("rememberSignatures() verifies the signature of a Cargo once for all of its jobs", () => {
  const { isValid, verified } = make();
  for (let job = 0; job < 5; job += 1) expect(isValid({ ...cargo }, "good")).toBe(true);
  expect(verified).toEqual(["good"]);
});

it("rememberSignatures() verifies another manifest with a known signature", () => {
  const { isValid, verified } = make();
  expect(isValid(cargo, "good")).toBe(true);
  const others = [
    { ...cargo, requiredRamBytes: cargo.requiredRamBytes + 1 },
    { ...cargo, addition: 1 },
    { ...cargo, slug: undefined as unknown as string },
  ];
  for (const other of others) expect(isValid(other, "good")).toBe(false);
  expect(verified).toHaveLength(4);
});

it("rememberSignatures() does not cache an invalid signature", () => {
  const { isValid, verified } = make();
  for (let job = 0; job < 2; job += 1) expect(isValid(cargo, "wrong")).toBe(false);
  expect(verified).toEqual(["wrong", "wrong"]);
});
