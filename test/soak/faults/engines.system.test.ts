import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../../island-agent/execution/island-reports.ts";
import { systemClock } from "../../../shared/clock.ts";
import { call, collect, jobEvents, textOf } from "../../support/http/http.ts";
import { makeTinyGguf } from "../../support/models/tiny-gguf.ts";
import { Network } from "../../support/network/network.ts";
import { EngineReplay, type Misbehaviour } from "../../support/servers/engine-replay.ts";
import { LlamaServer, TINY_CHAT_MODEL } from "../../support/servers/llama-server.ts";
import { accountProblems } from "../../support/store/account-books.ts";
import type { NewAccount } from "../../support/store/account-rows.ts";

const GRANTED = 1_000;
const CLIENTS = 14;
/** Faults of the llama-servers. */
const REAL = ["kill", "stop", "model"] as const;
/** Faults of the replayed engines. `drop`: its connections are closed in the middle of a stream. */
const REPLAYED: readonly (readonly [string, Misbehaviour])[] = [
  ["cut", "cut"],
  ["503", { status: 503, headers: { "retry-after": "1" }, body: '{"error":{"message":"Loading model"}}' }],
  ["no finish reason", "no-finish"],
  ["drop", "hang-in-stream"],
  ["429", { status: 429, headers: { "retry-after": "1" } }],
  ["500", { status: 500, body: "boom" }],
  ["wrong model", "wrong-model"],
];
const REPLAYS = 6;
const FAULTS = 200;

/** Expected completions by prompt: those of a llama-server without faults. */
const expected = new Map<string, string>();
let directory: string;
let otherModel: string;
let network: Network;
let client: NewAccount;
let servers: readonly LlamaServer[];
let replays: readonly EngineReplay[];
/** Faults that happened. */
const faults: string[] = [];
const isOver = (): boolean => faults.length >= FAULTS;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atoll-engines-"));
  otherModel = join(directory, "other.gguf");
  await writeFile(otherModel, makeTinyGguf({ says: ["wrong"] }));
  servers = await Promise.all([LlamaServer.start(), LlamaServer.start()]);
  await learnCompletions(servers[0] as LlamaServer);
  replays = await Promise.all(Array.from({ length: REPLAYS }, openReplay));
  network = await Network.open(["--max-attempts", "100", "--island-backoff-s", "0.05"]);
  client = network.createAccount("client@example.com", GRANTED, { concurrentJobs: 100, concurrentStreams: 100 });
  const urls = replays.map(({ url }) => url);
  const engines = [...servers.map(({ url }) => [url]), urls.slice(0, REPLAYS / 2), urls.slice(REPLAYS / 2)];
  for (const [index, each] of engines.entries()) {
    const { islandToken } = network.createAccount(`host${index}@example.com`, 0);
    const settings = { "engines.urls": each.join(","), "cargos.allow_runtimes": "engine", slots: "4" };
    await network.startIsland(`island${index}`, islandToken, settings);
  }
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  for (const each of [...servers, ...replays]) await each[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

async function learnCompletions({ url }: LlamaServer): Promise<void> {
  for (let from = 1; from <= 30; from += 1) {
    const prompt = `Count from ${from} to ${from + 6 + (from % 5)}.`;
    const body = { messages: [{ role: "user", content: prompt }], temperature: 0, max_tokens: 100 };
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
    expected.set(prompt, choices[0].message.content);
  }
}

/** An engine with the completions of llama-server, which continues those that another Island began. */
async function openReplay(): Promise<EngineReplay> {
  const replay = await EngineReplay.open("llama-server");
  replay.rename(TINY_CHAT_MODEL);
  replay.responses["GET /metrics"] = "llamacpp:requests_processing 0\n";
  replay.answer = ({ messages }) => {
    const [prompt, begun] = messages as { content: string }[];
    const whole = expected.get(prompt?.content ?? "") ?? "unknown prompt";
    const rest = begun === undefined ? whole : whole.slice(begun.content.length);
    // Texts are cut between tokens, after which the model continues as it would have.
    return rest.match(/ ?[^ ,.]+|[,.]/g) ?? [""];
  };
  return replay;
}

const status = (index: number): Promise<AgentStatus> => network.islandStatus<AgentStatus>(`island${index}`);

/** Runs jobs one after another until the faults are over. @returns their problems. */
async function runJobs(first: number): Promise<{ jobs: number; problems: string[] }> {
  const prompts = [...expected.keys()];
  const problems: string[] = [];
  let jobs = 0;
  while (!isOver()) {
    const prompt = prompts[(first + jobs * CLIENTS) % prompts.length] ?? "";
    jobs += 1;
    const input = { prompt, temperature: 0, max_tokens: 100 };
    const { body } = await call(network.url, client.key, "POST", "/jobs", { workload: "tiny-chat", input });
    const events = await collect(jobEvents(network.url, client.key, body.data.id as string));
    const [text, ending] = [textOf(events), events.at(-1)?.event];
    if (ending === "done" && text === expected.get(prompt)) continue;
    problems.push(`${body.data.id}: ${prompt} ended with ${JSON.stringify(events.at(-1)?.data)}: ${text}`);
  }
  return { jobs, problems };
}

/** Waits until the value changes or the faults are over. */
async function nextOf(read: () => number): Promise<void> {
  const before = read();
  while (read() === before && !isOver()) await systemClock.sleep(10);
}

async function breakServer(server: LlamaServer, index: number): Promise<void> {
  for (let round = 0; !isOver(); round += 1) {
    const fault = REAL[(round + index) % REAL.length] as (typeof REAL)[number];
    const isWorking = async (): Promise<boolean> => {
      const { running, engines } = await status(index);
      return isOver() || (running.length > 0 && engines?.[0]?.state === "ready");
    };
    await expect.poll(isWorking, { interval: 20 }).toBe(true);
    faults.push(fault);
    server.signal(fault === "stop" ? "SIGSTOP" : "SIGKILL");
    if (fault === "stop") await systemClock.sleep(300);
    if (fault === "model") {
      await server.restart({ model: otherModel });
      await systemClock.sleep(300);
    }
    if (fault === "stop") server.signal("SIGCONT");
    else await server.restart({});
  }
}

/** Breaks an engine after each job that it completes. */
async function breakReplay(replay: EngineReplay, index: number): Promise<void> {
  for (let round = 0; !isOver(); round += 1) {
    await nextOf(() => replay.completed);
    const [name, how] = REPLAYED[(round + index) % REPLAYED.length] as (typeof REPLAYED)[number];
    replay.misbehave(how, undefined, 1);
    await nextOf(() => replay.hits);
    faults.push(name);
    if (name !== "drop") continue;
    await systemClock.sleep(50);
    replay.dropConnections();
  }
}

describe("a network whose engines fail", () => {
  it(`loses no job, charges none twice and mixes no responses over ${FAULTS} faults`, async () => {
    const clients = Array.from({ length: CLIENTS }, (_, index) => runJobs(index));
    await Promise.all([...servers.map(breakServer), ...replays.map(breakReplay)]);
    const runs = await Promise.all(clients);
    expect(runs.flatMap(({ problems }) => problems)).toEqual([]);
    expect(new Set(faults)).toEqual(new Set([...REAL, ...REPLAYED.map(([name]) => name)]));
    expect(await accountProblems(network.url, client.key, GRANTED)).toEqual([]);
    const jobs = runs.reduce((sum, run) => sum + run.jobs, 0);
    const { credits } = (await call(network.url, client.key, "GET", "/account")).body.data;
    // A token costs 16 micro-credits, and each job has at least one.
    expect(GRANTED - credits).toBeGreaterThanOrEqual(jobs * 0.000_016);
  });
});
