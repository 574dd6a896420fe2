import { expect, it } from "vitest";
import { accountSessions } from "../../../coordinator/islands/account-sessions.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";

const INTERVAL_MS = 10_000;

it("AccountShare looks a token up once or twice per interval, however many sessions it has", () => {
  const clock = new ManualClock();
  const sessions = accountSessions(testEnv({ islandSessionsPerToken: 500, islandSessionsPerAccount: 500 }, { clock }));
  const owner = { accountId: "user_1", tokenId: "itk_1", tokenCreatedAtMs: 0 };
  const shares = Array.from({ length: 500 }, () => sessions.open(owner).share);
  const lookUpsMs: number[] = [];
  for (let turn = 0; turn < 4 * shares.length; turn += 1) {
    const share = shares[turn % shares.length];
    if (share?.isCheckDue(owner.tokenId, clock.monotonicMs(), INTERVAL_MS) === true)
      lookUpsMs.push(clock.monotonicMs());
    clock.advance(INTERVAL_MS / shares.length);
  }
  expect(lookUpsMs.length).toBeLessThanOrEqual(8);
  const gapsMs = lookUpsMs.slice(1).map((atMs, index) => atMs - (lookUpsMs[index] ?? 0));
  expect(Math.max(...gapsMs)).toBeLessThanOrEqual(INTERVAL_MS);
});

it("AccountShare forgets a token without sessions, and looks it up again with its next one", () => {
  const clock = new ManualClock();
  const sessions = accountSessions(testEnv({ islandSessionsPerToken: 1, islandSessionsPerAccount: 1 }, { clock }));
  const owner = { accountId: "user_1", tokenId: "itk_1", tokenCreatedAtMs: 0 };
  for (let turn = 0; turn < 3; turn += 1) {
    const { share, close } = sessions.open(owner);
    expect(share.isCheckDue(owner.tokenId, clock.monotonicMs(), INTERVAL_MS)).toBe(true);
    close();
    expect(share.checkedMs.size).toBe(0);
    clock.advance(60_000);
  }
});
