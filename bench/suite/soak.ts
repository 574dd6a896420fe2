import { systemClock } from "../../shared/clock.ts";
import { describeMetrics } from "../harness/alternate.ts";
import type { Bench, BenchResult } from "../harness/bench.ts";
import { formatNumber } from "../harness/format-number.ts";
import { chatLoad, joinIslands, startClients, underLoad } from "../harness/loads.ts";
import { cpuSeconds, databaseMb, residentMb } from "../harness/process-facts.ts";
import { startAtoll } from "../harness/servers.ts";
import { summarize } from "../harness/statistics.ts";

const TOKENS = 16;
const CLIENTS = 32;
const MS_PER_MINUTE = 60_000;
/** The first minutes, in which code and caches may grow. */
const GROWING_MINUTES = 5;
/** Growth that is tolerated from the minutes after the first five to the last minutes. */
const MAX_GROWTH = 1.05;
/** Shortest soak that can show leaks. In a shorter soak, memory still grows to the size that the load needs. */
const MIN_JUDGED_MINUTES = 3 * GROWING_MINUTES;
const SAMPLE_MS = 10_000;

interface Sample {
  readonly minute: number;
  readonly residentMb: number;
  readonly p50Ms: number;
  readonly corePercent: number;
}

/** Runs half the coordinator's capacity for a long time. Throws at the first failed request. */
export const makeSoak = (minutes: number): Bench => ({
  name: "soak",
  title: `Soak: ${minutes} minutes at half load`,
  command: `npm run bench:soak -- --minutes ${minutes}`,
  async run({ log }): Promise<BenchResult> {
    await using server = await startAtoll();
    const { key } = server.account("client");
    await using islands = await joinIslands(server, { count: 16, slots: 16, script: { tokens: TOKENS, gapMs: 0 } });
    await using clients = await startClients();
    const full = chatLoad(server, key, CLIENTS, TOKENS);
    const probeMs = Math.min(SAMPLE_MS, (minutes * MS_PER_MINUTE) / 10);
    const { answered, seconds } = await underLoad(clients, full, probeMs, () =>
      clients.call("measure", { ms: probeMs }),
    );
    const halfPerS = answered / seconds / 2;
    log(`full load ${formatNumber(answered / seconds)} chats/s, half ${formatNumber(halfPerS)}`);
    const half = { ...full, intervalMs: (CLIENTS * 1_000) / halfPerS };
    const samples: Sample[] = [];
    let chats = 0;
    await underLoad(clients, half, 1_000, async () => {
      const beganMs = systemClock.monotonicMs();
      const minute = (): number => (systemClock.monotonicMs() - beganMs) / MS_PER_MINUTE;
      while (minute() < minutes) {
        const cpuBefore = cpuSeconds(server.pid);
        const window = await clients.call("measure", { ms: probeMs });
        chats += window.answered;
        const sample: Sample = {
          minute: minute(),
          residentMb: residentMb(server.pid),
          p50Ms: window.p50Ms,
          corePercent: ((cpuSeconds(server.pid) - cpuBefore) / window.seconds) * 100,
        };
        samples.push(sample);
        const facts = {
          minute: sample.minute,
          "chats/s": window.answered / window.seconds,
          "p50 ms": sample.p50Ms,
          "p99 ms": window.p99Ms,
          "resident MB": sample.residentMb,
          "core %": sample.corePercent,
          "database MB": databaseMb(server.network.data).databaseMb,
        };
        log(describeMetrics(facts));
      }
    });
    await islands.call("counts", undefined);
    return result(samples, minutes, `${chats.toLocaleString("en-US")} chats without a failure.`);
  },
});

function result(samples: readonly Sample[], minutes: number, note: string): BenchResult {
  const isJudged = minutes >= MIN_JUDGED_MINUTES;
  const budget = { text: `≤ ${MAX_GROWTH} × baseline`, isMet: ({ ratio }: { ratio: number }) => ratio <= MAX_GROWTH };
  // A shorter soak leaves out its first sixth.
  const settled = Math.min(GROWING_MINUTES, minutes / 6);
  const later = samples.filter(({ minute }) => minute > settled);
  const part = Math.max(1, Math.floor(later.length / 5));
  const mb = (of: readonly Sample[]): number[] => of.map((sample) => sample.residentMb);
  const [early, late] = [mb(later.slice(0, part)), mb(later.slice(-part))];
  return {
    figures: [
      {
        what: "Resident memory at the end",
        unit: "MB",
        values: [summarize(late).median],
        baseline: { name: `after ${formatNumber(settled)} minutes`, values: [summarize(early).median] },
        ...(isJudged ? { budget } : {}),
      },
      { what: "Chat latency, p50", unit: "ms", values: samples.map(({ p50Ms }) => p50Ms) },
      { what: "Process CPU", unit: "% of a core", values: samples.map(({ corePercent }) => corePercent) },
    ],
    notes: [note, ...(isJudged ? [] : [`Growth is not judged in a soak of less than ${MIN_JUDGED_MINUTES} minutes.`])],
    plots: [
      {
        name: "soak",
        title: "Half load",
        x: { label: "minutes", values: samples.map(({ minute }) => minute), isLinear: true },
        panels: [
          { label: "Resident memory, MB", lines: [{ name: "coordinator", points: mb(samples).map((each) => [each]) }] },
          {
            label: "Chat latency, p50, ms",
            lines: [{ name: "coordinator", points: samples.map(({ p50Ms }) => [p50Ms]) }],
          },
        ],
      },
    ],
  };
}
