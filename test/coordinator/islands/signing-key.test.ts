import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCargoSigner, type CargoSigner } from "../../../coordinator/islands/cargo-signer.ts";
import {
  makeSigningKey,
  readKeyInUse,
  readSigningKey,
  SigningKeyError,
} from "../../../coordinator/islands/signing-key.ts";
import { fileSecrets } from "../../../coordinator/store/secrets/file-secrets.ts";
import type { SharedSecrets } from "../../../coordinator/store/secrets/shared-secrets.ts";
import { isSigned, readPublicKey } from "../../../shared/cargo-signature.ts";
import { FakeLog, makeManifest } from "../../island-agent/builders.ts";

let directory: string;
let path: string;
let secrets: SharedSecrets;
let log: FakeLog;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-signing-"));
  path = join(directory, "signing.key");
  secrets = fileSecrets(directory);
  log = new FakeLog();
});
afterEach(() => rm(directory, { recursive: true }));

const openSigner = (isNew = true): Promise<CargoSigner> => openCargoSigner({ log }, secrets, isNew);

describe("the signing key", () => {
  it("is created at the first start, readable only by its owner, and kept afterwards", async () => {
    expect(await readSigningKey(secrets)).toBeNull();
    const { publicKey } = await openSigner();
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect((await openSigner()).publicKey).toBe(publicKey);
    expect(await readdir(directory)).toEqual(["signing.key", "signing.pub"]);
    expect(log.events.all).toEqual([]);
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
    const failure: unknown = await openSigner().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SigningKeyError);
    expect((failure as Error).message).toContain(path);
    expect((failure as Error).message).toContain("the command signing-key rotate");
    expect(await readFile(path, "utf8")).toBe(content);
  });

  it("is not created again when it is lost and Islands have pinned it, and the message says what to do", async () => {
    await expect(openSigner(false)).rejects.toThrow(
      `${path}: the signing key is missing, and Islands have pinned it. Restore the key from a backup, or create a new one with ` +
        "the command signing-key rotate (then every Island must join again)",
    );
    expect(await readdir(directory)).toEqual([]);
    await makeSigningKey(secrets);
    await openSigner(false);
  });

  it("is neither read from nor written over a directory at its path", async () => {
    await mkdir(path);
    const sentence = `${path}: must be a file, but it is a directory. Move it away`;
    await expect(openSigner()).rejects.toThrow(
      new SigningKeyError(`${sentence}. Restore the key from a backup`).message,
    );
    await expect(makeSigningKey(secrets)).rejects.toThrow(new SigningKeyError(sentence));
    expect(await readdir(directory)).toEqual(["signing.key"]);
  });

  it("causes a warning if other users can read it", async () => {
    await openSigner();
    await chmod(path, 0o640);
    await openSigner();
    expect(log.events.all).toEqual([
      "warn Other users can read the key that signs Cargos; restrict the file with chmod 600",
    ]);
    expect(log.facts).toEqual([{ file: path }]);
  });

  it("is recorded as in use from the next start", async () => {
    expect(await readKeyInUse(secrets)).toBeNull();
    const { publicKey } = await openSigner();
    await makeSigningKey(secrets);
    expect(await readKeyInUse(secrets)).toBe(publicKey);
    const next = await openSigner();
    expect(next.publicKey).not.toBe(publicKey);
    expect(await readKeyInUse(secrets)).toBe(next.publicKey);
    await writeFile(join(directory, "signing.pub"), "cut sho");
    expect(await readKeyInUse(secrets)).toBeNull();
  });

  it("changes with a rotation, even if it was damaged", async () => {
    const before = (await openSigner()).publicKey;
    await writeFile(path, "");
    await chmod(path, 0o644);
    const made = await makeSigningKey(secrets);
    const after = await openSigner();
    expect(after.publicKey).not.toBe(before);
    expect(readPublicKey(after.publicKey)?.equals(createPublicKey(made))).toBe(true);
    expect((await stat(path)).mode & 0o077).toBe(0);
  });
});

describe("CargoSigner", () => {
  it("signs each version of a Cargo once", async () => {
    const signer = await openSigner();
    const key = readPublicKey(signer.publicKey) ?? expect.fail();
    const entry = makeManifest({ slug: "a" });
    const first = signer.sign(entry);
    expect(isSigned(first.cargo, first.signature, key)).toBe(true);
    expect(signer.sign(entry)).toBe(first);
    const second = signer.sign({ ...entry, requiredRamBytes: 11 });
    expect(second.signature).not.toBe(first.signature);
    expect(isSigned(second.cargo, second.signature, key)).toBe(true);
  });

  it("signs an account's own Cargo for that account only", async () => {
    const signer = await openSigner();
    const key = readPublicKey(signer.publicKey) ?? expect.fail();
    const { cargo, signature } = signer.sign({ ...makeManifest(), privateTo: "user_1" });
    const signedFor = [null, "user_2", "user_1"].filter((account) => isSigned(cargo, signature, key, account));
    expect(signedFor).toEqual(["user_1"]);
  });

  it("sends an Island only the manifest fields", async () => {
    const signer = await openSigner();
    const entry = { ...makeManifest(), priceMicro: 1, privateTo: "user_1" };
    expect(signer.sign(entry).cargo).toEqual(makeManifest());
  });
});
