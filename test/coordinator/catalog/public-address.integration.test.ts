import { describe, expect, it } from "vitest";
import { hostProblem } from "../../../coordinator/catalog/cargo-rules.ts";

const problem = (host: string): string | null => hostProblem(new URL(`https://${host}/a`));

describe("hostProblem()", () => {
  it.each(["10.0.0.1", "0x7f.1", "192.88.99.1", "[3fff::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]"])(
    "rejects the address %s by the common list of private ranges",
    (host) => {
      expect(problem(host)).toMatch(/ is a private address$/);
    },
  );

  it.each(["localhost", "a.localhost", "printer", "nas.local", "host.internal.", "box.home.arpa"])(
    "rejects %s, which exists only in a local network",
    (host) => {
      expect(problem(host)).toMatch(/ is a name of a local network$/);
    },
  );

  it.each(["files.example", "1.1.1.1", "[2606:4700::1111]", "[64:ff9b::1.1.1.1]"])("accepts %s", (host) => {
    expect(problem(host)).toBeNull();
  });
});
