import { NEW_STANDING } from "../../coordinator/credits/standing.ts";

/** Standings of a network without audits. */
export const NO_STANDINGS = {
  of: () => NEW_STANDING,
  refusedWith: () => new Set<string>(),
  onChange: () => undefined,
} as const;

/** Audits of a network without audits. */
export const NO_AUDITS = { ofJob: async () => undefined } as const;
