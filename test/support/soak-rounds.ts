import { it } from "vitest";

const SOAK = process.env["ATOLL_SOAK"] ?? "";
if (!["", "quick", "cases", "full"].includes(SOAK)) throw new Error(`ATOLL_SOAK is quick, cases or full, not ${SOAK}`);

/** True where every round of every case is run: `ATOLL_SOAK=full`. */
export const HAS_EVERY_ROUND = SOAK === "full";

/** True where every case is run: `ATOLL_SOAK=full`, and `cases`, as `.ci/run` for what needs Debian's packages. */
export const HAS_EVERY_CASE = HAS_EVERY_ROUND || SOAK === "cases";

/** @param all rounds of a full run. With `cases` a fifth of them, else a tenth. */
export const soakRounds = (all: number): number =>
  Math.ceil(HAS_EVERY_ROUND ? all : HAS_EVERY_CASE ? all / 5 : all / 10);

/** A case that runs only where every case does. A short run keeps one or two cases of the same kind. */
export const itInFullRun = it.runIf(HAS_EVERY_CASE);

/** All rows where every case runs, else the first two: for rows that test the same rule at a high price. */
export const rowsOf = <T>(rows: readonly T[]): readonly T[] => (HAS_EVERY_CASE ? rows : rows.slice(0, 2));
