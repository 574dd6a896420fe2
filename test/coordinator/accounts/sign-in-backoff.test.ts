import { expect, it } from "vitest";
import { signInBackoff } from "../../../coordinator/accounts/accounts.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const EMAIL = "ann@example.com";

function makeBackoff() {
  const clock = new ManualClock();
  const begin = signInBackoff(clock);
  let address = 0;
  /** A wrong password from an address that was never used. */
  const fail = (email = EMAIL): void => void begin(email, `stranger ${(address += 1)}`);
  return { clock, begin, fail };
}

it("from the sixth wrong password of an account on, each try waits twice as long, up to a minute, from any address", () => {
  const { clock, fail } = makeBackoff();
  for (let i = 0; i < 5; i += 1) fail();
  for (const waitS of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(() => fail("ANN@example.com")).toThrow(`retry in ${waitS} s`);
    fail("other@example.com");
    clock.advance(waitS * 1_000);
    fail();
  }
});

it("an address from which the account was signed in to never waits for the guesses of others", () => {
  const { clock, begin, fail } = makeBackoff();
  begin(EMAIL, "home").succeeded();
  for (let i = 0; i < 5; i += 1) fail();
  for (let i = 0; i < 20; i += 1) {
    expect(() => fail()).toThrow("login_attempts");
    begin(EMAIL, "home");
  }
  clock.advance(1_000);
  fail();
  expect(() => begin(EMAIL, "new place")).toThrow("retry in 2 s");
});

it("a right password counts for nothing, and 15 minutes of quiet end the wait", () => {
  const { clock, begin, fail } = makeBackoff();
  for (let i = 0; i < 4; i += 1) fail();
  begin(EMAIL, "office").succeeded();
  fail();
  expect(() => fail()).toThrow("retry in 1 s");
  clock.advance(900_001);
  for (let i = 0; i < 5; i += 1) fail();
  expect(() => fail()).toThrow("retry in 1 s");
});
