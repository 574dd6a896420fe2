import { describe, expect, it } from "vitest";
import { openPasswords } from "../../../coordinator/accounts/passwords.ts";
import { newSecret } from "../../../coordinator/accounts/secrets.ts";

describe("openPasswords()", () => {
  it("hash() salts, and verify() accepts the right password", async () => {
    const passwords = openPasswords();
    const [first, second] = await Promise.all([passwords.hash("naïve password"), passwords.hash("naïve password")]);
    expect(first).not.toBe(second);
    // Both texts contain the same letters, composed and decomposed.
    expect(await passwords.verify("nai\u0308ve password", first)).toBe(true);
    expect(await passwords.verify("naive password", first)).toBe(false);
  });

  it("verify() uses the parameters of the stored hash", async () => {
    // RFC 7914, section 12, second vector: N = 1024, r = 8, p = 16.
    const hash = Buffer.from(
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640",
      "hex",
    );
    const stored = `scrypt$1024$8$16$${Buffer.from("NaCl").toString("base64")}$${hash.toString("base64")}`;
    expect(await openPasswords().verify("password", stored)).toBe(true);
  });

  it("refuses a hash while 64 are waiting", async () => {
    const passwords = openPasswords();
    // The parameters make hashes cheap, because only the queue matters here.
    const stored = "scrypt$2$1$1$AAAA$AAAA";
    const outcomes = await Promise.allSettled(Array.from({ length: 67 }, () => passwords.verify("password", stored)));
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ reason: { limit: "login_attempts" } });
    expect(await passwords.verify("password", stored)).toBe(false);
  });
});

describe("newSecret()", () => {
  it("draws every base62 character about equally often", () => {
    const counts = new Map<string, number>();
    const secrets = Array.from({ length: 1_000 }, () => newSecret("ak"));
    for (const character of secrets.map((secret) => secret.slice(3)).join("")) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    // Each character is expected 645 times, with a standard deviation of 25. A byte modulo 62 would return some
    // characters about 781 times.
    expect(Math.max(...counts.values())).toBeLessThan(645 + 5 * 25);
    expect(new Set(secrets).size).toBe(1_000);
  });
});
