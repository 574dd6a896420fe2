import { TRUSTED } from "../../coordinator/credits/standing.ts";

/** Standings of a network without audits. */
export const NO_STANDINGS = {
  of: () => TRUSTED,
  refusedWith: () => new Set<string>(),
  onChange: () => undefined,
} as const;

/** Audits of a network without audits. */
export const NO_AUDITS = { ofJob: async () => undefined } as const;
