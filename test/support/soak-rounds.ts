const SOAK = process.env["ATOLL_SOAK"] ?? "";
if (!["", "full"].includes(SOAK)) throw new Error(`ATOLL_SOAK is full or not set, not ${SOAK}`);

/** True where every round is run: `ATOLL_SOAK=full`. */
export const HAS_EVERY_ROUND = SOAK === "full";

/** @param all rounds of a full run. Otherwise a tenth of them run. */
export const soakRounds = (all: number): number => (HAS_EVERY_ROUND ? all : Math.ceil(all / 10));
