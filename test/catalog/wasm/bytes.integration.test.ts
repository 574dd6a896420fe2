import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const hash = new Utility("hash");
const base64 = new Utility("base64");
const uuid = new Utility("uuid");

interface Hashes {
  readonly bytes: number;
  readonly hashes: Record<string, string>;
}
const hashesOf = (data: string, algorithms: string[], encoding = "utf8"): Record<string, string> =>
  hash.output<Hashes>({ data, algorithms, encoding }).hashes;
const convert = (input: object): string => base64.output<{ data: string }>(input).data;
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const words = fc.string({ unit: "binary" });

describe("hash", () => {
  it("computes the test vectors of FIPS 180-4, CRC-32 and FNV", () => {
    const long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    expect(hashesOf("abc", ["sha256", "sha1"])).toEqual({
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      sha1: "a9993e364706816aba3e25717850c26c9cd0d89d",
    });
    expect(hashesOf(long, ["sha1", "sha256"])).toEqual({
      sha1: "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
      sha256: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    });
    expect(hashesOf("123456789", ["crc32"])).toEqual({ crc32: "cbf43926" });
    expect(hashesOf("foobar", ["fnv1a32", "fnv1a64"])).toEqual({ fnv1a32: "bf9cf968", fnv1a64: "85944171f73967e8" });
    expect(hashesOf("", ["fnv1a32", "fnv1a64"])).toEqual({ fnv1a32: "811c9dc5", fnv1a64: "cbf29ce484222325" });
  });
  it("matches Node.js for all lengths around a block size", () => {
    for (let length = 0; length <= 130; length++) {
      const data = Buffer.alloc(length, "é");
      expect(hashesOf(data.toString("hex"), ["sha256", "sha1", "crc32"], "hex")).toEqual({
        sha256: createHash("sha256").update(data).digest("hex"),
        sha1: createHash("sha1").update(data).digest("hex"),
        crc32: crc32(data).toString(16).padStart(8, "0"),
      });
    }
  });
  it("accepts text, base64 and hexadecimal digits, with SHA-256 as the default", () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const sha256 = createHash("sha256").update(data).digest("hex");
        expect(hash.output({ data: data.toString("base64"), encoding: "base64" })).toEqual({
          bytes: data.length,
          hashes: { sha256 },
        });
        expect(hashesOf(data.toString("hex"), ["sha256"], "hex")).toEqual({ sha256 });
      }),
    );
    fc.assert(
      fc.property(words, (data) => {
        expect(hashesOf(data, ["sha256"])).toEqual({ sha256: createHash("sha256").update(data).digest("hex") });
      }),
    );
  });
  it.each([
    [{ data: "a", algorithms: ["md5"] }, "sha256, sha1, crc32"],
    [{ data: "a", algorithms: ["sha1", "sha1"] }, "twice"],
    [{ data: "abc", encoding: "hex" }, "even number"],
    [{ data: "0g", encoding: "hex" }, "not hexadecimal near byte 1"],
    [{ data: "a", encoding: "latin1" }, "encoding"],
  ])("refuses %j", (input, message) => {
    expect(hash.error(input)).toContain(message);
  });
});

describe("base64", () => {
  it.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ])("converts the test vector of RFC 4648, section 10: %j to %j and back", (text, encoded) => {
    expect(convert({ data: text })).toBe(encoded);
    expect(convert({ mode: "decode", data: encoded })).toBe(text);
  });
  it("encodes like Buffer in both alphabets", () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const hex = { data: data.toString("hex"), encoding: "hex" };
        expect(convert(hex)).toBe(data.toString("base64"));
        expect(convert({ ...hex, alphabet: "url" })).toBe(data.toString("base64url"));
        expect(convert({ ...hex, padding: false })).toBe(data.toString("base64").replaceAll("=", ""));
      }),
    );
  });
  it("decodes the output of Buffer, with or without padding and line ends", () => {
    fc.assert(
      fc.property(bytes, (data) => {
        const hex = { mode: "decode", encoding: "hex" };
        expect(convert({ ...hex, data: data.toString("base64").replaceAll(/.{76}/g, "$&\r\n") })).toBe(
          data.toString("hex"),
        );
        expect(convert({ ...hex, data: data.toString("base64url") })).toBe(data.toString("hex"));
      }),
    );
  });
  it("decodes to text", () => {
    fc.assert(
      fc.property(words, (text) => {
        expect(convert({ mode: "decode", data: convert({ data: text }) })).toBe(text);
      }),
    );
  });
  it.each([
    ["YQ=", "padding is wrong"],
    ["YWJj====", "padding is wrong"],
    ["YQ==YQ==", "not base64 at byte 5"],
    ["A", "ends too early"],
    ["YR==", "bits are left over"],
    ["a+b_", "not base64 at byte 4"],
    ["YQ*=", "not base64 at byte 3"],
    ["/w==", "not UTF-8 text (byte 1)"],
  ])("refuses to decode %s: %s", (data, message) => {
    expect(base64.error({ mode: "decode", data })).toContain(message);
  });
});

describe("uuid", () => {
  it("computes the example of RFC 9562", () => {
    expect(uuid.output({ namespace: "dns", names: ["www.example.com"] })).toEqual({
      uuids: ["2ed6657d-e927-568b-95e1-2665a8aea6a2"],
    });
  });
  it("returns the SHA-1 of namespace and name, with version and variant bits", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.array(words, { minLength: 1 }), (namespace, names) => {
        const expected = names.map((name) => {
          const digest = createHash("sha1")
            .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
            .update(name)
            .digest();
          digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
          digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
          return digest.toString("hex", 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
        });
        expect(uuid.output({ namespace: namespace.toUpperCase(), names })).toEqual({ uuids: expected });
      }),
    );
  });
  it.each(["", "6ba7b810", "6ba7b8109dad-11d1-80b4-00c04fd430c8-", "zzzzzzzz-9dad-11d1-80b4-00c04fd430c8"])(
    "refuses %j as a namespace",
    (namespace) => {
      expect(uuid.error({ namespace, names: ["a"] })).toContain('"namespace"');
    },
  );
});
