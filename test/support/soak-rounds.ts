import { it } from "vitest";

/** True where every round is run: ATOLL_SOAK=full, as in `.ci/run`. Else soak tests run a tenth of their rounds. */
export const IS_FULL_SOAK = process.env["ATOLL_SOAK"] === "full";

/** @param all rounds of a full run, a multiple of ten. */
export const soakRounds = (all: number): number => (IS_FULL_SOAK ? all : all / 10);

/** A case that runs in a full run only. A short run keeps one or two cases of the same kind. */
export const itInFullRun = it.runIf(IS_FULL_SOAK);

/** All rows in a full run, else the first two: for rows that test the same rule at a high price. */
export const rowsOf = <T>(rows: readonly T[]): readonly T[] => (IS_FULL_SOAK ? rows : rows.slice(0, 2));
