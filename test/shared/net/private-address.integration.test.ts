import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPrivateAddress } from "../../../shared/net/private-address.ts";

/**
 * Bounds of every private range by the IANA registries: special-purpose addresses (IPv4, IPv6), multicast, and for IPv6
 * the address space itself. Each entry is `[first, last]`, and adjacent ranges are joined.
 */
const REFUSED = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
  ["::", "::fffe:ffff:ffff"],
  ["::1:0:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
] as const;

/** Prefixes of IPv6 addresses with an embedded IPv4 address in the last 32 bits. */
const EMBEDDING = [toNumber("::ffff:0.0.0.0"), toNumber("64:ff9b::")];

/** Converts an address to a number, written for the test without the platform's parsers. */
function toNumber(address: string): bigint {
  if (!address.includes(":")) return address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  if (dotted !== null) return toNumber(`${dotted[1]}0:0`) + toNumber(dotted[2] ?? "");
  const [head = [], tail = []] = address.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

const toIpv4 = (value: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
const toIpv6 = (value: bigint): string =>
  [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((value >> shift) & 65_535n).toString(16)).join(":");

function isRefused(value: bigint, family: 4 | 6): boolean {
  const prefix = family === 6 ? EMBEDDING.find((each) => value >> 32n === each >> 32n) : undefined;
  if (prefix !== undefined) return isRefused(value - prefix, 4);
  return REFUSED.filter(([first]) => first.includes(":") === (family === 6)).some(
    ([first, last]) => value >= toNumber(first) && value <= toNumber(last),
  );
}

describe("isPrivateAddress()", () => {
  it.each(REFUSED)(
    "returns true from %s to %s, and false for the neighbours unless they are in another range",
    (first, last) => {
      const family = first.includes(":") ? 6 : 4;
      const show = family === 4 ? toIpv4 : toIpv6;
      const max = family === 4 ? 2n ** 32n - 1n : 2n ** 128n - 1n;
      const [from, to] = [toNumber(first), toNumber(last)];
      for (const value of [from, from + 1n, (from + to) / 2n, to - 1n, to]) {
        expect([show(value), isPrivateAddress(show(value))]).toEqual([show(value), true]);
      }
      for (const value of [from - 1n, to + 1n].filter((each) => each >= 0n && each <= max)) {
        expect([show(value), isPrivateAddress(show(value))]).toEqual([show(value), isRefused(value, family)]);
      }
    },
  );

  it("agrees with the ranges for any address, near their ends and elsewhere", () => {
    const ends = REFUSED.flat();
    const near = fc.tuple(fc.constantFrom(...ends), fc.bigInt({ min: -3n, max: 3n })).map(([end, offset]) => ({
      value: toNumber(end) + offset,
      family: end.includes(":") ? (6 as const) : (4 as const),
    }));
    const any4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ value, family: 4 as const }));
    const any6 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => ({ value, family: 6 as const }));
    const unicast = fc
      .bigInt({ min: 0n, max: 2n ** 125n - 1n })
      .map((value) => ({ value: value + 2n ** 125n, family: 6 as const }));
    fc.assert(
      fc.property(fc.oneof(near, any4, any6, unicast), ({ value, family }) => {
        fc.pre(value >= 0n && value < (family === 4 ? 2n ** 32n : 2n ** 128n));
        const address = family === 4 ? toIpv4(value) : toIpv6(value);
        expect(isPrivateAddress(address)).toBe(isRefused(value, family));
      }),
      { numRuns: 5_000 },
    );
  });

  it("returns the same for an IPv4 address and its IPv4-mapped and NAT64 forms, in any notation", () => {
    const privateIpv4 = fc.constantFrom(...REFUSED.flat().filter((end) => !end.includes(":")));
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), privateIpv4), (address) => {
        const expected = isPrivateAddress(address);
        const hex = [toNumber(address) >> 16n, toNumber(address) & 65_535n]
          .map((group) => group.toString(16))
          .join(":");
        for (const tail of [address, hex]) {
          expect(isPrivateAddress(`::ffff:${tail}`)).toBe(expected);
          expect(isPrivateAddress(`0:0:0:0:0:FFFF:${tail}`)).toBe(expected);
          expect(isPrivateAddress(`64:ff9b::${tail}`)).toBe(expected);
        }
      }),
    );
  });

  it.each([
    ["cloud metadata", "169.254.169.254"],
    ["cloud metadata, IPv4-mapped", "::ffff:a9fe:a9fe"],
    ["unique local", "fd00:ec2::254"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["IPv4-compatible", "::127.0.0.1"],
    ["IPv4-translated", "::ffff:0:127.0.0.1"],
    ["local NAT64 (RFC 8215)", "64:ff9b:1::1.1.1.1"],
    ["Teredo", "2001::4136:e378:8000:63bf:3fff:fdd2"],
    ["benchmarking", "2001:2::1"],
    ["6to4 of a public address", "2002:101:101::1"],
    ["documentation (RFC 9637)", "3fff:0:1::1"],
    ["SRv6 (RFC 9602)", "5f00::1"],
    ["dummy prefix (RFC 9780)", "100:0:0:1::1"],
    ["multicast", "ff02::1"],
    ["text that is not an address", "files.example"],
  ])("returns true for %s: %s", (_what, address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(["1.1.1.1", "192.0.1.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1"])(
    "returns false for %s",
    (address) => {
      expect(isPrivateAddress(address)).toBe(false);
    },
  );
});
