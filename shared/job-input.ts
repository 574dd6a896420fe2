import { KIB, MIB } from "./format-bytes.ts";

/*
 * Limits of the lines that clients send to a running job (`POST /jobs/{id}/input`). A line is JSON; its bytes are those of its text.
 */

/** Of one line; the same as of the input with which a job begins. */
export const MAX_LINE_BYTES = 256 * KIB;
/** Lines of one job that its program has not taken yet, and their bytes. */
export const MAX_WAITING_LINES = 256;
export const MAX_WAITING_BYTES = MIB;
/** What of it the Island has: the rest waits at the coordinator. At least one line is always with the Island. */
export const WINDOW_LINES = 64;
export const WINDOW_BYTES = 512 * KIB;

/** Of an interactive Cargo that sets no `silence_limit_s` or `first_output_limit_s`: longest time with neither input nor output. */
export const IDLE_LIMIT_MS = 120_000;
