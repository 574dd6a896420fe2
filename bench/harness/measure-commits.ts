import { join } from "node:path";
import type { Commits, CommitsApi } from "../load/commits-only.ts";
import type { Metrics } from "./alternate.ts";
import type { BenchOptions } from "./bench.ts";
import { cpuSeconds } from "./process-facts.ts";
import { Worker } from "./worker.ts";

const CLIENTS = 32;
const TOKENS = 16;
/** Concurrent jobs of the Islands in the bench `jobs`. */
const RUNNING_JOBS = 1_024;

/** Measures only the commits of chats and of already waiting jobs: their rates and CPU. */
export async function measureCommits({ isQuick }: BenchOptions): Promise<Metrics> {
  await using worker = await Worker.start<CommitsApi>(join(import.meta.dirname, "..", "load", "commits-only.ts"));
  await worker.call("open", undefined);
  const run = async (work: Commits): Promise<{ perS: number; us: number }> => {
    const before = cpuSeconds(worker.pid);
    const seconds = await worker.call("run", work);
    return { perS: work.count / seconds, us: ((cpuSeconds(worker.pid) - before) * 1e6) / work.count };
  };
  const chats: Commits = { kind: "chat", count: isQuick ? 200 : 10_000, parallel: CLIENTS, tokens: TOKENS };
  await run({ ...chats, count: chats.count / 4 });
  const chat = await run(chats);
  await worker.call("fill", { count: chats.count });
  const job = await run({ ...chats, kind: "job", parallel: RUNNING_JOBS, tokens: 1 });
  await worker.call("close", undefined);
  return { "chats/s": chat.perS, "chat µs": chat.us, "jobs/s": job.perS, "job µs": job.us };
}
