import { describe } from "vitest";
import { missingServers } from "./missing-servers.ts";
import { HAS_EVERY_CASE } from "./soak-rounds.ts";

const problem = await missingServers();
if (problem !== null) process.stderr.write(`Tests of several coordinators are skipped: ${problem}\n`);

/** Tests with a cluster of processes, which take much CPU: they run in a full run, where PostgreSQL and NATS are installed. */
export function describeCluster(title: string, body: () => void): void {
  describe.skipIf(problem !== null || !HAS_EVERY_CASE)(problem === null ? title : `${title} [${problem}]`, body);
}
