import { alternate, figureOf, type Metrics, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchResult } from "../harness/bench.ts";
import { samplesByGroup } from "../harness/cpu-profile.ts";
import {
  PROFILED_LOADS,
  PROFILED_TOKENS,
  profileChats,
  profiledIslands,
  profileIdle,
  type MainThreadProfile,
} from "../harness/profile-main-thread.ts";

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

/** Measures which code the main thread runs for chats and idle Islands, because this thread limits their number. */
export const mainThread: Bench = {
  name: "main-thread",
  title: "Main thread by part of the code",
  async run(options): Promise<BenchResult> {
    const samples = await alternate(
      options.runs,
      {
        bursts: async () => byPart(await profileChats(PROFILED_LOADS.bursts, options)),
        streams: async () => byPart(await profileChats(PROFILED_LOADS.streams, options)),
        idle: async () => byPart(await profileIdle(options)),
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
    const islands = `${profiledIslands(options.isQuick).toLocaleString("en-US")} idle Islands`;
    const ofIdle = (part: string, metric: string) =>
      figureOf(samples, { what: `${part}, ${islands}`, unit: "µs", metric, of: "idle" });
    return {
      figures: [
        ...figures,
        ofIdle("Main thread per heartbeat and ping", "all"),
        ...[...Object.keys(PARTS), REST].map((part) => ofIdle(`Per heartbeat and ping, ${part}`, part)),
      ],
    };
  },
};

function byPart({ flame, usEach }: MainThreadProfile): Metrics {
  const counts = samplesByGroup(flame);
  const usOf = (samples: number): number => (samples / flame.samples) * usEach;
  const parts = Object.entries(PARTS).map(([part, groups]) => {
    return [part, usOf(groups.reduce((sum, group) => sum + (counts.get(group) ?? 0), 0))] as const;
  });
  const known = parts.reduce((sum, [, us]) => sum + us, 0);
  return { all: usEach, ...Object.fromEntries(parts), [REST]: usEach - known };
}
