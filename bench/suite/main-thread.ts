import { alternate, figureOf, type Metrics, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult } from "../harness/bench.ts";
import { samplesByGroup } from "../harness/cpu-profile.ts";
import { PROFILED_LOADS, PROFILED_TOKENS, profileChats, type ProfiledLoad } from "../harness/profile-chats.ts";

/** Parts of the code by the groups of a profile. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  "Node.js and its native code": ["node"],
  "V8: garbage collection and native code": ["V8"],
  "packages (hono, ws, zod and others)": ["packages"],
  "coordinator/http/": ["coordinator/http"],
  "coordinator/jobs/": ["coordinator/jobs"],
  "coordinator/islands/, dispatch/ and scheduler/": [
    "coordinator/islands",
    "coordinator/dispatch",
    "coordinator/scheduler",
  ],
  "coordinator/store/": ["coordinator/store"],
};
const REST = "other folders";

/** Measures which code the main thread runs for a chat, because this thread limits the rate of chats. */
export const mainThread: Bench = {
  name: "main-thread",
  title: "Main thread by part of the code",
  async run(options): Promise<BenchResult> {
    const samples = await alternate(
      options.runs,
      {
        bursts: () => measure(PROFILED_LOADS.bursts, options),
        streams: () => measure(PROFILED_LOADS.streams, options),
      },
      options.log,
    );
    const figures = (["bursts", "streams"] as const).flatMap((of) => {
      const ofLoad = (part: string, metric: string) =>
        figureOf(samples, { what: `${part}, ${PROFILED_LOADS[of].what}`, unit: "µs", metric, of });
      const perToken = ofEachRun((us) => us / PROFILED_TOKENS, valuesOf(samples, of, "all"));
      return [
        ofLoad("Main thread per chat", "all"),
        { what: `Main thread per token, ${PROFILED_LOADS[of].what}`, unit: "µs", values: perToken },
        ...[...Object.keys(PARTS), REST].map((part) => ofLoad(`Per chat, ${part}`, part)),
      ];
    });
    return { figures };
  },
};

async function measure(load: ProfiledLoad, { isQuick }: BenchOptions): Promise<Metrics> {
  const { flame, usPerChat } = await profileChats(load, { isQuick });
  const counts = samplesByGroup(flame);
  const usOf = (samples: number): number => (samples / flame.samples) * usPerChat;
  const parts = Object.entries(PARTS).map(([part, groups]) => {
    return [part, usOf(groups.reduce((sum, group) => sum + (counts.get(group) ?? 0), 0))] as const;
  });
  const known = parts.reduce((sum, [, us]) => sum + us, 0);
  return { all: usPerChat, ...Object.fromEntries(parts), [REST]: usPerChat - known };
}
