import { expect, it } from "vitest";
import { openKnownSignatures } from "../../../island-agent/session/known-signatures.ts";
import { makeManifest } from "../builders.ts";

const cargo = makeManifest();

/** Signatures of which "good" signs exactly {@link cargo}, and what was verified. */
function make(): { signatures: ReturnType<typeof openKnownSignatures>; verified: string[] } {
  const verified: string[] = [];
  const signatures = openKnownSignatures((manifest, signature) => {
    verified.push(signature);
    return signature === "good" && JSON.stringify(manifest) === JSON.stringify(cargo);
  });
  return { signatures, verified };
}

it("verifies the signature of a Cargo once for all of its jobs", () => {
  const { signatures, verified } = make();
  for (let job = 0; job < 5; job += 1) expect(signatures.isValid({ ...cargo }, "good")).toBe(true);
  expect(verified).toEqual(["good"]);
});

it("verifies another manifest under a signature that it knows", () => {
  const { signatures, verified } = make();
  expect(signatures.isValid(cargo, "good")).toBe(true);
  const others = [
    { ...cargo, requiredRamBytes: cargo.requiredRamBytes + 1 },
    { ...cargo, addition: 1 },
    { ...cargo, slug: undefined as unknown as string },
  ];
  for (const other of others) expect(signatures.isValid(other, "good")).toBe(false);
  expect(verified).toHaveLength(4);
});

it("does not remember a signature that is wrong", () => {
  const { signatures, verified } = make();
  for (let job = 0; job < 2; job += 1) expect(signatures.isValid(cargo, "wrong")).toBe(false);
  expect(verified).toEqual(["wrong", "wrong"]);
});
