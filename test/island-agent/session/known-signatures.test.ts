import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { beforeEach, expect, it, vi } from "vitest";
import { CargoTrust } from "../../../island-agent/session/cargo-trust.ts";
import { publicKeyText, signedBytes } from "../../../shared/cargo-signature.ts";
import { FakeLog, makeManifest } from "../builders.ts";

const counts = vi.hoisted(() => ({ verifications: 0 }));

vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  const counted = (...args: [null, Buffer, KeyObject, Buffer]): boolean => {
    counts.verifications += 1;
    return crypto.verify(...args);
  };
  return { ...crypto, verify: counted };
});

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const makeTrust = (): CargoTrust => new CargoTrust(publicKeyText(publicKey), null, new FakeLog());
const cargo = makeManifest();
const signature = sign(null, signedBytes(cargo), privateKey).toString("base64");

beforeEach(() => (counts.verifications = 0));

it("verifies the signature of a Cargo once for all of its jobs", () => {
  const trust = makeTrust();
  for (let job = 0; job < 5; job += 1) expect(trust.problemOf({ cargo: { ...cargo }, signature })).toBeNull();
  expect(counts.verifications).toBe(1);
});

it("refuses another manifest under a signature that it knows", () => {
  const trust = makeTrust();
  expect(trust.problemOf({ cargo, signature })).toBeNull();
  const other = { ...cargo, requiredRamBytes: cargo.requiredRamBytes + 1 };
  expect(trust.problemOf({ cargo: other, signature })).toContain("is not signed");
  expect(trust.problemOf({ cargo: { ...cargo, addition: undefined } as typeof cargo, signature })).toContain(
    "is not signed",
  );
  expect(trust.problemOf({ cargo, signature })).toBeNull();
});

it("does not remember a signature that is wrong", () => {
  const trust = makeTrust();
  const wrong = signature.replace(/^./, (first) => (first === "A" ? "B" : "A"));
  for (let job = 0; job < 2; job += 1) expect(trust.problemOf({ cargo, signature: wrong })).toContain("is not signed");
  expect(counts.verifications).toBe(2);
});
