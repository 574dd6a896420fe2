import { Network } from "../support/network/network.ts";
import { accountProblems } from "../support/store/account-books.ts";
import { Random } from "../support/random.ts";
import { makeCatalog } from "../support/small-catalog.ts";
import { LiarsClient } from "./client.ts";
import { History } from "./history.ts";
import { runHonestly } from "./honest.ts";
import { pickLie } from "./lies.ts";
import { Probe, type Spread } from "./probe.ts";
import { ScriptedIsland } from "./scripted-island.ts";
import { CHAT, UTILITY } from "./tasks.ts";

const ISLANDS = 10;
const CLIENTS = 10;
/** Concurrent jobs of each client. */
const AT_ONCE = 3;
const GRANTED = 10_000;
/** Maximum earnings of a lying Island, relative to an honest one. */
const MOST_FOR_LIARS = 0.1;
/** The limits are short, so that a silent Island costs seconds. */
const LIMITS = { run_limit_s: 8, wait_limit_s: 30 };
const FLAGS = (
  "--accept-limit-s 2 --start-limit-s 2 --first-output-limit-s 2 --silence-limit-s 2 --heartbeat-s 1 " +
  "--island-grace-s 1 --sse-heartbeat-s 2 --chat-wait-s 20"
).split(" ");

export interface LiarsOptions {
  readonly seed: number;
  readonly minutes: number;
  /**
   * Minimum number of completed jobs, because the earnings of a few jobs are not significant. A slow machine may take
   * up to four times as long.
   */
  readonly leastJobs?: number;
  /** Whether lying Islands reconnect as new hosts, to avoid their quarantine. */
  readonly renames: boolean;
}

export interface IslandMetrics {
  readonly name: string;
  readonly isHonest: boolean;
  readonly attempts: number;
  readonly earned: number;
  readonly quarantines: number;
  /** Sessions ended by the coordinator. */
  readonly drops: number;
}

export interface LiarsResult {
  readonly history: History;
  readonly islands: readonly IslandMetrics[];
  readonly memoryMb: Spread;
  readonly responsesMs: Spread;
  readonly violations: readonly string[];
}

/** Runs a coordinator with ten Islands, half of which lie. Checks the results of honest clients. */
export async function runLiars({ seed, minutes, leastJobs = 0, renames }: LiarsOptions): Promise<LiarsResult> {
  const catalog = makeCatalog([CHAT, UTILITY], LIMITS);
  await using network = await Network.open([...FLAGS, "--catalog-directory", catalog]);
  const { url } = network;
  const random = new Random(seed);
  const history = new History();
  const islands = Array.from({ length: ISLANDS }, (_, index) =>
    openIsland(network, { index, random: random.fork(), history, renames }),
  );
  const everyone = (): ScriptedIsland[] => islands.map(({ island }) => island);
  for (const each of islands) each.others = () => everyone().filter((island) => island !== each.island);

  const watcher = network.createAccount("watcher@example.com", 0);
  const probe = new Probe(network.coordinator.process.pid ?? 0, url, watcher.key);
  const accounts = Array.from({ length: CLIENTS }, (_, index) =>
    network.createAccount(`client-${index}@example.com`, GRANTED, { concurrentJobs: 1_000, concurrentStreams: 1_000 }),
  );
  let isOpen = true;
  const clients = accounts.flatMap(({ key }, account) =>
    Array.from({ length: AT_ONCE }, (_, at) =>
      new LiarsClient({
        ...{ id: account * AT_ONCE + at, url, key, random: random.fork(), history, isOpen: () => isOpen },
      }).run(),
    ),
  );
  for (let part = 0; part < 4 && (part === 0 || history.done < leastJobs); part += 1)
    await new Promise((resolve) => setTimeout(resolve, minutes * 60_000));
  isOpen = false;
  await Promise.all(clients);
  const seen = await probe.stop();

  const figures = await Promise.all(islands.map((each) => figuresOf(network, each)));
  await Promise.all(everyone().map((island) => island.stop()));
  const violations = [
    ...history.violations,
    ...history.records.flatMap(({ operation, jobId, faults }) =>
      faults.map((line) => `${operation} ${jobId}: ${line}`),
    ),
    ...earningProblems(figures),
  ];
  for (const [index, { key }] of accounts.entries()) {
    const problems = await accountProblems(url, key, GRANTED, history.charges);
    violations.push(...problems.map((line) => `client ${index}: ${line}`));
  }
  const books = await network.manage<{ ok?: boolean }>("ledger", "verify").catch((error: unknown) => String(error));
  if (typeof books === "string") violations.push(`ledger verify: ${books}`);
  if (network.coordinator.process.exitCode !== null)
    violations.push(`the coordinator ended: ${network.coordinator.stderr}`);
  return { history, islands: figures, ...seen, violations };
}

interface Player {
  readonly island: ScriptedIsland;
  readonly key: string;
  readonly name: string;
  readonly isHonest: boolean;
  attempts: number;
  others: () => readonly ScriptedIsland[];
}

function openIsland(
  network: Network,
  { index, random, history, renames }: { index: number; random: Random; history: History; renames: boolean },
): Player {
  const isHonest = index % 2 === 0;
  const name = `${isHonest ? "honest" : "liar"} ${Math.floor(index / 2) + 1}`;
  const account = network.createAccount(`island-${index}@example.com`, 0);
  const player: Omit<Player, "island"> = { key: account.key, name, isHonest, attempts: 0, others: () => [] };
  const island = ScriptedIsland.open({
    ...{ name, url: network.url, account, renames: renames && !isHonest, random },
    run: async (attempt, self) => {
      opened.attempts += 1;
      if (isHonest) {
        if (attempt.result.kind !== "value") history.readPrompts.add(attempt.jobId);
        return runHonestly(attempt, random);
      }
      const lie = pickLie(attempt, random);
      history.noteLie(lie);
      // Any attempt may have reported prompt tokens.
      history.readPrompts.add(attempt.jobId);
      const others = (): (typeof attempt)[] => opened.others().flatMap(({ attempts }) => [...attempts.values()]);
      return lie.send({ attempt, island: self, random, url: network.url, others });
    },
  });
  const opened: Player = Object.assign(player, { island });
  return opened;
}

async function figuresOf(network: Network, { island, key, name, isHonest, attempts }: Player): Promise<IslandMetrics> {
  const response = await fetch(`${network.url}/api/v1/account`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: { credits: number } };
  const log = network.coordinator.stdout + network.coordinator.stderr;
  const quarantines = log
    .split("\n")
    .filter(
      (line) => island.hostIds.some((hostId) => line.includes(hostId)) && line.includes("is in quarantine"),
    ).length;
  return { name, isHonest, attempts, earned: data.credits, quarantines, drops: island.drops };
}

/** Returns the lying Islands that earned too much in comparison with the honest Island that earned least. */
function earningProblems(figures: readonly IslandMetrics[]): string[] {
  const least = Math.min(...figures.filter(({ isHonest }) => isHonest).map(({ earned }) => earned));
  return figures
    .filter(({ isHonest, earned }) => !isHonest && earned >= MOST_FOR_LIARS * least)
    .map(({ name, earned }) => `${name} earned ${earned}, the worst paid honest Island ${least}`);
}
