import { describe, expect, it } from "vitest";
import { CoordinatorAddresses } from "../../../island-agent/session/coordinator-addresses.ts";

const A = "https://a.example";
const B = "https://b.example";
const C = "https://c.example";

/** Keeps the configured order. */
const IN_ORDER = (): number => 0.999;

function open(...configured: string[]): CoordinatorAddresses {
  return new CoordinatorAddresses(configured, IN_ORDER);
}

/** Returns the addresses of the next dials, with "wait" for a wait before a dial. */
function dials(addresses: CoordinatorAddresses, count: number): string[] {
  return Array.from({ length: count }, () => {
    const isImmediate = addresses.advance(null);
    return isImmediate ? addresses.current : `wait ${addresses.current}`;
  });
}

describe("CoordinatorAddresses", () => {
  it("dial each address immediately, and wait before the next round", () => {
    const addresses = open(A, B, C);
    expect([addresses.current, ...dials(addresses, 6)]).toEqual([A, B, C, `wait ${A}`, B, C, `wait ${A}`]);
  });

  it("wait before each dial of a single address", () => {
    expect(dials(open(A), 2)).toEqual([`wait ${A}`, `wait ${A}`]);
  });

  it("dial all addresses without a wait again after a session that lasted", () => {
    const addresses = open(A, B, C);
    expect(dials(addresses, 2)).toEqual([B, C]);
    addresses.settled();
    expect(dials(addresses, 3)).toEqual([A, B, `wait ${C}`]);
  });

  it("start at a random address", () => {
    const firsts = [0, 0.4, 0.8].map((random) => new CoordinatorAddresses([A, B, C], () => random).current);
    expect(new Set(firsts).size).toBeGreaterThan(1);
  });

  it("continue until each address has refused the Island since the last welcome", () => {
    const addresses = open(A, B);
    expect(addresses.refused()).toBe(false);
    expect(addresses.refused()).toBe(false);
    addresses.advance(null);
    expect(addresses.refused()).toBe(true);
    addresses.welcomed();
    expect(addresses.refused()).toBe(false);
  });
});

describe("an address in a goodbye", () => {
  const follow = (configured: string[], named: string): string => {
    const addresses = open(...configured);
    expect(addresses.advance(named)).toBe(true);
    return addresses.current;
  };

  it.each([
    ["a configured address", [A, B, C], `${C}/`, C],
    ["a configured address without TLS", ["http://10.0.0.1", "http://10.0.0.2"], "http://10.0.0.2", "http://10.0.0.2"],
    ["another port of the same host with TLS", [A], `${A}:8443/atoll/?x=1`, `${A}:8443/atoll`],
  ])("is dialed immediately: %s", (_, configured, named, dialed) => {
    expect(follow(configured, named)).toBe(dialed);
  });

  it.each([
    ["another host", [A, B], "https://evil.example"],
    ["the same host without TLS", [A, B], "http://a.example"],
    ["another port of a host without TLS", ["http://127.0.0.1:1", B], "http://127.0.0.1:22"],
    ["a host of the owner's network", [A, B], "https://192.168.0.1"],
    ["a host in the part for credentials", [A, B], "https://a.example@evil.example"],
    ["an invalid address", [A, B], "somewhere"],
  ])("is replaced by the next configured address: %s", (_, configured, named) => {
    expect(follow(configured, named)).toBe(B);
  });

  it("is followed once until a session lasts, to prevent redirects without a wait", () => {
    const addresses = open(A);
    expect(addresses.advance(`${A}:1`)).toBe(true);
    expect(addresses.advance(`${A}:2`)).toBe(false);
    expect(addresses.current).toBe(A);
    addresses.settled();
    expect(addresses.advance(`${A}:2`)).toBe(true);
  });

  it("is followed by the next configured address after a refusal", () => {
    const addresses = open(A, B, C);
    addresses.advance(`${A}:1`);
    addresses.refused();
    expect(dials(addresses, 3)).toEqual([B, C, `wait ${A}`]);
  });
});
