import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CargoSigner } from "../../coordinator/islands/cargo-signer.ts";
import { makeSigningKey, readSigningKey, SigningKeyError } from "../../coordinator/islands/signing-key.ts";
import { isSigned, readPublicKey } from "../../shared/cargo-signature.ts";
import { makeManifest } from "../agent/builders.ts";

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-signing-"));
  path = join(directory, "signing.key");
});
afterEach(() => rm(directory, { recursive: true }));

describe("the signing key", () => {
  it("is made at the first start, for its owner's eyes only, and kept from then on", async () => {
    expect(await readSigningKey(directory)).toBeNull();
    const { publicKey } = await CargoSigner.open(directory);
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect((await CargoSigner.open(directory)).publicKey).toBe(publicKey);
    expect(await readdir(directory)).toEqual(["signing.key"]);
  });

  it.each<[string, () => string]>([
    ["is empty", () => ""],
    ["was cut short", () => "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw"],
    [
      "holds a key of another kind",
      () =>
        generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
          type: "pkcs8",
          format: "pem",
        }) as string,
    ],
  ])("is not replaced when its file %s, and the message says what to do", async (_what, text) => {
    const content = text();
    await writeFile(path, content);
    const failure: unknown = await CargoSigner.open(directory).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SigningKeyError);
    expect((failure as Error).message).toContain(path);
    expect((failure as Error).message).toContain("coordinator signing-key rotate");
    expect(await readFile(path, "utf8")).toBe(content);
  });

  it("is another after a rotation, also of a damaged one", async () => {
    const before = (await CargoSigner.open(directory)).publicKey;
    await writeFile(path, "");
    await chmod(path, 0o644);
    const made = await makeSigningKey(directory);
    const after = await CargoSigner.open(directory);
    expect(after.publicKey).not.toBe(before);
    expect(readPublicKey(after.publicKey)?.equals(createPublicKey(made))).toBe(true);
    expect((await stat(path)).mode & 0o077).toBe(0);
  });
});

describe("CargoSigner", () => {
  it("signs each version of a Cargo once", async () => {
    const signer = await CargoSigner.open(directory);
    const key = readPublicKey(signer.publicKey) ?? expect.fail();
    const entry = makeManifest({ slug: "a" });
    const first = signer.sign(entry);
    expect(isSigned(first.cargo, first.signature, key)).toBe(true);
    expect(signer.sign(entry)).toBe(first);
    const second = signer.sign({ ...entry, requiredRamBytes: 11 });
    expect(second.signature).not.toBe(first.signature);
    expect(isSigned(second.cargo, second.signature, key)).toBe(true);
  });

  it("signs an account's own Cargo for that account alone", async () => {
    const signer = await CargoSigner.open(directory);
    const key = readPublicKey(signer.publicKey) ?? expect.fail();
    const { cargo, signature } = signer.sign({ ...makeManifest(), privateTo: "user_1" });
    const signedFor = [null, "user_2", "user_1"].filter((account) => isSigned(cargo, signature, key, account));
    expect(signedFor).toEqual(["user_1"]);
  });

  it("tells an Island only what is its business", async () => {
    const signer = await CargoSigner.open(directory);
    const entry = { ...makeManifest(), priceMicro: 1, privateTo: "user_1" };
    expect(signer.sign(entry).cargo).toEqual(makeManifest());
  });
});
