import type { Bench } from "./harness/bench.ts";
import { streams } from "./suite/streams.ts";

/** All that `npm run bench` runs, in this order. */
export const BENCHES: readonly Bench[] = [streams];
