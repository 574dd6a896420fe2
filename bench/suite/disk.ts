import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { alternate, figureOf, type Metrics, ofEachRun, valuesOf } from "../harness/alternate.ts";
import type { Bench, BenchOptions, BenchResult } from "../harness/bench.ts";
import { chatLoad, joinIslands, startClients } from "../harness/loads.ts";
import { databaseMb, diskBytesWritten } from "../harness/process-facts.ts";
import { startAtoll, type Server } from "../harness/servers.ts";
import { Worker } from "../harness/worker.ts";
import type { OneRowApi } from "../load/one-row.ts";

const MAX_BYTES_PER_TOKEN = 200;
const MAX_KB_PER_CHAT = 20;
/** Wait after the last response, so that write-behind finishes. */
const SETTLE_MS = 1_500;
const KB = 1_000;
const ROW_BYTES = 100;

interface Work {
  readonly tokens: number;
  readonly gapMs: number;
  readonly chats: number;
  /** Chats at the same time. Default: 1. */
  readonly clients?: number;
}

/**
 * Measures bytes written to disk for a long stream and for short chats, one after the other, so that no commits are
 * shared, and for many long streams at the same time.
 */
export const disk: Bench = {
  name: "disk",
  title: "Disk writes",
  async run(options): Promise<BenchResult> {
    const long: Work = { tokens: options.isQuick ? 50 : 1_000, gapMs: 20, chats: 1 };
    const streams = options.isQuick ? 4 : 64;
    const shared: Work = { ...long, chats: streams, clients: streams };
    const spaced: Work = { tokens: 16, gapMs: 20, chats: options.isQuick ? 2 : 50 };
    const burst: Work = { tokens: 16, gapMs: 0, chats: options.isQuick ? 2 : 200 };
    const samples = await alternate(
      options.runs,
      {
        long: () => measure(long),
        shared: () => measure(shared),
        spaced: () => measure(spaced),
        burst: () => measure(burst),
        row: () => measureRow(options),
      },
      options.log,
    );
    const rowBytes = valuesOf(samples, "row", "B per commit");
    /** `per` converts bytes per chat to the unit of the figure. */
    const withBudget = (
      { what, of, metric }: { what: string; of: string; metric: string },
      { max, unit }: { max: number; unit: string },
      per: (perChat: number) => number,
    ) =>
      figureOf(samples, {
        what,
        of,
        unit,
        metric,
        budget: {
          text: `≤ ${max} ${unit}`,
          isMet: ({ median }) => median <= max,
          limit: {
            name: "the same number of one-row commits",
            values: ofEachRun(
              (commits, bytes) => per(commits * bytes),
              valuesOf(samples, of, "commits per chat"),
              rowBytes,
            ),
          },
        },
      });
    const ofChat = (what: string, of: string) =>
      withBudget({ what, of, metric: "kB per chat" }, { max: MAX_KB_PER_CHAT, unit: "kB" }, (bytes) => bytes / KB);
    const ofToken = (what: string, of: string) =>
      withBudget(
        { what, of, metric: "B per token" },
        { max: MAX_BYTES_PER_TOKEN, unit: "bytes" },
        (bytes) => bytes / long.tokens,
      );
    const commitsIn = (what: string, of: string) =>
      figureOf(samples, { what, of, unit: "", metric: "commits per chat" });
    return {
      figures: [
        ofToken(`Disk writes per token, stream of ${long.tokens} tokens at 50/s`, "long"),
        ofToken(`Disk writes per token, ${streams} streams of ${long.tokens} tokens at 50/s`, "shared"),
        ofChat("Disk writes per chat, 16 tokens 20 ms apart", "spaced"),
        ofChat("Disk writes per chat, 16 tokens at once", "burst"),
        figureOf(samples, {
          what: "Database growth per chat, 16 tokens at once",
          of: "burst",
          unit: "kB",
          metric: "kept kB per chat",
        }),
        commitsIn("Commits per chat, 16 tokens at once", "burst"),
        commitsIn("Commits per chat, 16 tokens 20 ms apart", "spaced"),
        commitsIn(`Commits per stream of ${long.tokens} tokens`, "long"),
        commitsIn(`Commits per stream of ${long.tokens} tokens, ${streams} streams`, "shared"),
        figureOf(samples, {
          what: "Disk writes per one-row commit",
          of: "row",
          unit: "bytes",
          metric: "B per commit",
        }),
        figureOf(samples, {
          what: "Size of the write-ahead log after the chats",
          of: "burst",
          unit: "MB",
          metric: "WAL MB",
        }),
      ],
    };
  },
};

async function measure({ tokens, gapMs, chats, clients: parallel = 1 }: Work): Promise<Metrics> {
  await using server = await startAtoll();
  const { key } = server.account("client");
  await using islands = await joinIslands(server, { count: 1, slots: parallel, script: { tokens, gapMs: 0 } });
  await using clients = await startClients();
  const load = chatLoad(server, key, parallel, tokens);
  await clients.call("submit", { load, count: 1 });
  await systemClock.sleep(SETTLE_MS);
  await islands.call("script", { tokens, gapMs });
  const commitsBefore = await commitsOf(server);
  const [before, sizeBefore] = [diskBytesWritten(server.pid), databaseMb(server.network.data)];
  await clients.call("submit", { load, count: chats });
  await systemClock.sleep(SETTLE_MS);
  const written = diskBytesWritten(server.pid) - before;
  const size = databaseMb(server.network.data);
  const { acknowledged } = await islands.call("counts", undefined);
  if (acknowledged !== chats + 1) throw new Error(`${acknowledged} ends are durable, of ${chats + 1}`);
  return {
    "B per token": written / (chats * tokens),
    "kB per chat": written / KB / chats,
    "kept kB per chat": ((size.databaseMb - sizeBefore.databaseMb) * 2 ** 20) / KB / chats,
    "WAL MB": size.walMb,
    "commits per chat": ((await commitsOf(server)) - commitsBefore) / chats,
  };
}

async function commitsOf({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/api/v1/metrics`)).text();
  return Number(/^atoll_storage_commits_total (\d+)$/m.exec(text)?.[1]);
}

/** Measures the smallest commits of the same database. */
async function measureRow({ isQuick }: BenchOptions): Promise<Metrics> {
  await using worker = await Worker.start<OneRowApi>(join(import.meta.dirname, "..", "load", "one-row.ts"));
  const count = isQuick ? 50 : 2_000;
  const before = diskBytesWritten(worker.pid);
  await worker.call("commit", { count, bytes: ROW_BYTES });
  return { "B per commit": (diskBytesWritten(worker.pid) - before) / count };
}
