import { expect, it } from "vitest";
import { signInBackoff } from "../../../coordinator/accounts/accounts.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const EMAIL = "ann@example.com";

function makeBackoff() {
  const clock = new ManualClock();
  const begin = signInBackoff(clock);
  let address = 0;
  /** Attempts a wrong password from a new address. */
  const fail = (email = EMAIL): void => void begin(email, `stranger ${(address += 1)}`);
  return { clock, begin, fail };
}

it("signInBackoff() doubles an account's delay from the sixth wrong password on, up to a minute, regardless of the address", () => {
  const { clock, fail } = makeBackoff();
  for (let i = 0; i < 5; i += 1) fail();
  for (const waitS of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(() => fail("ANN@example.com")).toThrow(`retry in ${waitS} s`);
    fail("other@example.com");
    clock.advance(waitS * 1_000);
    fail();
  }
});

it("signInBackoff() never delays an address that has signed in to the account before", () => {
  const { clock, begin, fail } = makeBackoff();
  begin(EMAIL, "home")();
  for (let i = 0; i < 5; i += 1) fail();
  for (let i = 0; i < 20; i += 1) {
    expect(() => fail()).toThrow("login_attempts");
    begin(EMAIL, "home");
  }
  clock.advance(1_000);
  fail();
  expect(() => begin(EMAIL, "new place")).toThrow("retry in 2 s");
});

it("signInBackoff() does not count right passwords, and resets after 15 minutes without an attempt", () => {
  const { clock, begin, fail } = makeBackoff();
  for (let i = 0; i < 4; i += 1) fail();
  begin(EMAIL, "office")();
  fail();
  expect(() => fail()).toThrow("retry in 1 s");
  clock.advance(900_001);
  for (let i = 0; i < 5; i += 1) fail();
  expect(() => fail()).toThrow("retry in 1 s");
});
