const SOAK = process.env["ATOLL_SOAK"] ?? "";
if (!["", "full"].includes(SOAK)) throw new Error(`ATOLL_SOAK must be "full" or unset, got ${SOAK}`);

/** Whether all rounds run, which `ATOLL_SOAK=full` sets. */
export const HAS_EVERY_ROUND = SOAK === "full";

/** Returns the number of rounds, which is a tenth unless the run is full. */
export const soakRounds = (all: number): number => (HAS_EVERY_ROUND ? all : Math.ceil(all / 10));
