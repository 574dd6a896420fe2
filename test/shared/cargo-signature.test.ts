import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CargoManifest } from "../../shared/cargo.ts";
import { fingerprintOf, isSigned, publicKeyText, readPublicKey, signedBytes } from "../../shared/cargo-signature.ts";

/** Secret key of RFC 8032 §7.1, TEST 1, in the encoding of RFC 8410. */
const SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const privateKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${SEED}`, "hex"),
  format: "der",
  type: "pkcs8",
});
const publicKey = createPublicKey(privateKey);
const PUBLIC_KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

const MANIFEST: CargoManifest = {
  slug: "example",
  runtimeType: "wasm",
  onnxTaskType: null,
  model: { url: "https://models.example/é.wasm", sha256: null, sizeBytes: 1_234_567_890_123 },
  requiredRamBytes: 268_435_456,
  requiredVramBytes: 0,
  contextTokens: null,
  args: ["a\nb", "€"],
};
/** Test vector of docs/reference/cargo-format.md. */
const SIGNED_TEXT =
  'atoll.cargo.v1\n{"args":["a\\nb","€"],"contextTokens":null,"model":{"sha256":null,"sizeBytes":1234567890123,"url":"https://models.example/é.wasm"},"onnxTaskType":null,"requiredRamBytes":268435456,"requiredVramBytes":0,"runtimeType":"wasm","slug":"example"}';
const SIGNATURE = "PU2SIX78wqZAHChSIYERvW6/Cu6QFQNOWStY0tVQpXY/rP46VPyVBkHJc+i2AOYml59GSOmGNUmJKw8zhggMDQ==";

/** Test vector of a Cargo for one account's Islands. */
const ACCOUNT = "user_01M7Y6T2SYFXJXMX4DSGXD7N6Z";
const OWN_SIGNATURE = "pvg8ohZOmaMS0VIUjILFMGfkuJ05S5A0rQVh2tLXhY67uVLBYPlwUBH4bDv9Xd8HvJQvRpH7QF/6bzY9JDMFDA==";

/** Generated manifests with unknown fields at every depth. */
const manifests = fc
  .record({
    model: fc.option(fc.record({ url: fc.string(), sha256: fc.constant(null), sizeBytes: fc.option(fc.nat()) })),
    args: fc.array(fc.string(), { maxLength: 3 }),
    later: fc.jsonValue({ maxDepth: 2 }),
  })
  .map((fields): CargoManifest => ({ ...MANIFEST, ...fields }));

describe("a Cargo signature", () => {
  it("equals the documented one for the documented manifest", () => {
    expect(signedBytes(MANIFEST).toString()).toBe(SIGNED_TEXT);
    expect(sign(null, signedBytes(MANIFEST), privateKey).toString("base64")).toBe(SIGNATURE);
    expect(isSigned(MANIFEST, SIGNATURE, publicKey)).toBe(true);
    const documented = readFileSync(new URL("../../docs/reference/cargo-format.md", import.meta.url), "utf8");
    const parts = [...SIGNED_TEXT.split("\n"), SIGNATURE, PUBLIC_KEY, SEED, ACCOUNT, OWN_SIGNATURE];
    expect(parts.filter((part) => !documented.includes(part))).toEqual([]);
  });

  it("is invalid for any other manifest, whichever field differs", () => {
    fc.assert(
      fc.property(manifests, manifests, (signed, shown) => {
        const signature = sign(null, signedBytes(signed), privateKey).toString("base64");
        expect(isSigned({ ...signed }, signature, publicKey)).toBe(true);
        const isSame = signedBytes(signed).equals(signedBytes(shown));
        expect(isSigned(shown, signature, publicKey)).toBe(isSame);
        expect(isSigned({ ...signed, slipped: true } as CargoManifest, signature, publicKey)).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it("for one account equals the documented one, and is invalid for other accounts or without an account", () => {
    const text = `atoll.cargo.own.v1\n${ACCOUNT}\n${SIGNED_TEXT.split("\n")[1]}`;
    expect(signedBytes(MANIFEST, ACCOUNT).toString()).toBe(text);
    expect(sign(null, Buffer.from(text), privateKey).toString("base64")).toBe(OWN_SIGNATURE);
    expect(isSigned(MANIFEST, OWN_SIGNATURE, publicKey, ACCOUNT)).toBe(true);
    for (const other of [null, `${ACCOUNT}2`, "user_1"]) {
      expect(isSigned(MANIFEST, OWN_SIGNATURE, publicKey, other)).toBe(false);
    }
    expect(isSigned(MANIFEST, SIGNATURE, publicKey, ACCOUNT)).toBe(false);
  });

  it.each(["", "a\nb", "a b", "é", "x".repeat(65)])("is not created for the invalid account id %j", (account) => {
    expect(() => signedBytes(MANIFEST, account)).toThrow(RangeError);
  });

  it("is invalid with another key, and for the same text without the prefix", () => {
    expect(isSigned(MANIFEST, SIGNATURE, generateKeyPairSync("ed25519").publicKey)).toBe(false);
    const text = signedBytes(MANIFEST).subarray("atoll.cargo.v1\n".length);
    expect(isSigned(MANIFEST, sign(null, text, privateKey).toString("base64"), publicKey)).toBe(false);
  });

  it.each(["", "AA==", `${SIGNATURE}=`, SIGNATURE.slice(0, -2), ` ${SIGNATURE}`, SIGNATURE.replaceAll("/", "_")])(
    "is invalid if it is %j instead of 64 bytes in base64",
    (text) => {
      expect(isSigned(MANIFEST, text, publicKey)).toBe(false);
    },
  );

  it("is invalid for a manifest that JSON cannot represent", () => {
    expect(isSigned({ ...MANIFEST, later: new Date(0) } as CargoManifest, SIGNATURE, publicKey)).toBe(false);
  });
});

describe("readPublicKey()", () => {
  it("reads the 32 bytes in base64 that publicKeyText() writes", () => {
    expect(publicKeyText(publicKey)).toBe(PUBLIC_KEY);
    expect(readPublicKey(PUBLIC_KEY)?.equals(publicKey)).toBe(true);
    expect(fingerprintOf(PUBLIC_KEY)).toBe("SHA256:If4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbk");
  });
  it.each(["", "abc", PUBLIC_KEY.slice(1), `${PUBLIC_KEY}\n`, `A${PUBLIC_KEY}`])("rejects %j", (text) => {
    expect(readPublicKey(text)).toBeUndefined();
  });
});
