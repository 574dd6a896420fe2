import { readChange, type Change } from "../events/change.ts";
import type { Entry } from "../events/journal.ts";

/** Which changes a coordinator wants to hear of: accounts, each with the number of the last change that it has, null for none. */
export interface WantedEvents {
  readonly follower: string;
  readonly accounts: readonly (readonly [accountId: string, after: number | null])[];
}

/**
 * Changes of an account after one number up to another; null: some of them are not known any more.
 * A change has its number; one that another took the place of is left out.
 */
export type ToldEvents = readonly [
  accountId: string,
  after: number,
  upTo: number,
  changes: readonly (readonly [seq: number, change: Change])[] | null,
];

/** Answered to {@link WantedEvents}, and sent to followers as changes come. */
export interface EventNews {
  readonly from: string;
  readonly accounts: readonly ToldEvents[];
}

export function toldOf(accountId: string, after: number, upTo: number, entries: readonly Entry[] | null): ToldEvents {
  return [accountId, after, upTo, entries?.map(({ seq, change }) => [seq, change] as const) ?? null];
}

/** What of it this version understands. */
export function changesIn(told: ToldEvents): readonly (readonly [seq: number, change: Change])[] {
  return (told[3] ?? []).flatMap(([seq, value]) => {
    const change = readChange(value);
    return change === undefined ? [] : [[seq, change] as const];
  });
}
