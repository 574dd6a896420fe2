const SOAK = process.env["ATOLL_SOAK"] ?? "";
if (!["", "full"].includes(SOAK)) throw new Error(`ATOLL_SOAK must be "full" or unset, got ${SOAK}`);

/** Whether all rounds run: `ATOLL_SOAK=full`. */
export const HAS_EVERY_ROUND = SOAK === "full";

/** Returns the number of rounds: all in a full run, else a tenth. */
export const soakRounds = (all: number): number => (HAS_EVERY_ROUND ? all : Math.ceil(all / 10));
