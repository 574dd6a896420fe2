import { randomUUID } from "node:crypto";
import { openStore } from "../../coordinator/store/open-store.ts";
import { TRUSTED } from "../../coordinator/credits/standing.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { ChatRead } from "../../shared/chat-reading.ts";
import { systemClock } from "../../shared/clock.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { call } from "../support/http/http.ts";
import { beginFrames, finishedFrame, outputFrame } from "../support/network/attempt-frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { Network } from "../support/network/network.ts";
import { Random } from "../support/random.ts";
import { makeCatalog } from "../support/small-catalog.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { runSql } from "../support/store/test-store.ts";
import { LIES } from "../support/toy-model/false-answers.ts";
import { KINDS, type LiarKind } from "../support/toy-model/liar-kinds.ts";
import { promptTokensOf, VOCABULARY, write } from "../support/toy-model/toy-model.ts";

/*
 * A coordinator with honest Islands and Islands of each kind of liar, all with a toy model. Clients send chats over HTTP.
 */

const SLUG = "tiny-chat";
const MAX_TOKENS = 60;
const TEMPERATURE = 0.8;
/** Pace of the model. An answer is sent in parts of this many tokens. */
const PROMPT_MS = 60;
const TOKEN_MS = 8;
const PART_TOKENS = 8;
const CLIENTS = 4;
const CHATS_AT_ONCE = 6;
const GRANTED = 10_000;
const POLL_MS = 300;
const SETTLE_POLLS = 200;
/** The coordinator reads standings that another process stored once a second. */
const STANDINGS_READ_MS = 2_000;

export interface TextLiarsOptions {
  readonly seed: number;
  /** Number of chats of all clients together. */
  readonly chats: number;
  readonly honest: number;
  /** Honest owners that an operator trusts. They are not compared. */
  readonly trusted: number;
}

export interface TextLiarResult {
  readonly kind: string;
  readonly identities: number;
  readonly quarantined: number;
  /** Answers of all identities, and their false readings and false answers that audits can read. */
  readonly answers: number;
  readonly lies: number;
  /** Most such lies of an identity until it was quarantined. */
  readonly mostLies: number;
  /** Credits paid and held, divided by the mean of the honest Islands. */
  readonly earned: number;
  /** False answers that were not refunded. */
  readonly final: number;
}

interface Identity {
  readonly account: NewAccount;
  readonly island: FakeIsland;
  lies: number;
  isQuarantined: boolean;
}

interface Player {
  readonly kind: LiarKind;
  readonly identities: Identity[];
  answers: number;
  /** Whether its standing is proven. */
  isProven: boolean;
}

export async function runTextLiars({
  seed,
  chats,
  honest,
  trusted,
}: TextLiarsOptions): Promise<readonly TextLiarResult[]> {
  await using network = await Network.open(["--heartbeat-s", "3600", "--catalog-directory", makeCatalog([SLUG])]);
  const random = new Random(seed);
  const store = await openStore(network.location, systemClock);
  const falseJobs = new Map<string, Player>();
  const stop = new AbortController();
  let watch: Promise<void> = Promise.resolve();
  const players = [...Array<LiarKind>(honest + trusted).fill(KINDS.honest), ...liars()].map((kind): Player => ({
    kind,
    identities: [],
    answers: 0,
    isProven: false,
  }));
  let accounts = 0;

  async function join(player: Player): Promise<void> {
    const account = network.createAccount(`owner-${(accounts += 1)}@example.com`, 0);
    const hello = { hostId: randomUUID(), slots: 2, features: ["chat.read"] };
    const island = await FakeIsland.join(network.url, account.islandToken, hello);
    const identity = { account, island, lies: 0, isQuarantined: false };
    player.identities.push(identity);
    island.socket.on("error", () => undefined);
    island.handle((frame) => {
      if (frame.type === "assign") void answer(frame, player, identity, random.fork(), falseJobs);
    });
  }

  try {
    for (const player of players) await join(player);
    for (const { identities } of players.slice(0, trusted)) {
      const ownerAccountId = identities[0]?.account.id ?? "";
      const standing = { ...TRUSTED, reason: "known in person" };
      await store.audits.set({ ownerAccountId, slug: SLUG, standing }, Date.now());
    }
    // Until then all owners are new, and two liars may read an answer.
    await systemClock.sleep(STANDINGS_READ_MS);
    const clients = Array.from({ length: CLIENTS }, (_, nth) =>
      network.createAccount(`client-${nth}@example.com`, GRANTED, { concurrentJobs: 1_000 }),
    );
    let left = chats;
    watch = (async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await noteStandings(store, players, join);
        await systemClock.sleep(POLL_MS);
      }
    })();
    await Promise.all(
      clients.flatMap(({ key }) =>
        Array.from({ length: CHATS_AT_ONCE }, async () => {
          while ((left -= 1) >= 0) await chat(network.url, key, promptOf(left, random));
        }),
      ),
    );
    await untilAudited(store);
    stop.abort();
    await watch;
    await noteStandings(store, players, join);
    const { sumMicro, wrongBalances, wrongHolds } = await store.ledger.verify();
    if (sumMicro !== 0 || wrongBalances.length > 0 || wrongHolds.length > 0) throw new Error("The books are wrong");
    return await resultsOf(network, players.slice(trusted), falseJobs);
  } finally {
    stop.abort();
    await watch.catch(() => undefined);
    await Promise.all(
      players.flatMap(({ identities }) => identities.map(({ island }) => island[Symbol.asyncDispose]())),
    );
    await store.close();
  }
}

/** Lies after which a liar must be quarantined, and earnings that it may keep, relative to an honest Island. */
const MOST_LIES = 10;
const MOST_EARNED = 0.1;
/** Liars that may be found later or have done honest work before: their answers are honest, or nearly. */
const LATE: readonly string[] = [KINDS.wrongNumber, KINDS.turning, KINDS.accusing, KINDS.confirming].map(
  ({ name }) => name,
);

/** Returns the liars that were not found in time or earned too much, and the honest Islands that were quarantined. */
export function textLiarProblems(results: readonly TextLiarResult[]): string[] {
  return results.flatMap(({ kind, quarantined, mostLies, earned }) => {
    if (kind === KINDS.honest.name) return quarantined > 0 ? ["an honest Island was quarantined"] : [];
    if (LATE.includes(kind)) return [];
    // A text of white space is free, and another Island answers instead.
    const isFound = quarantined > 0 || kind === KINDS.noBreakSpace.name;
    const isInTime = mostLies <= MOST_LIES || kind === KINDS.noBreakSpace.name;
    return isFound && isInTime && earned < MOST_EARNED ? [] : [`${kind}: ${mostLies} lies, earned ${earned}`];
  });
}

/** Formats the results as a Markdown table. The honest Islands share a row. */
export function describeTextLiars(results: readonly TextLiarResult[]): string {
  const honest = results.filter(({ kind }) => kind === KINDS.honest.name);
  const sum = (pick: (result: TextLiarResult) => number): number =>
    honest.reduce((total, each) => total + pick(each), 0);
  const together = {
    kind: `honest, mean of ${honest.length}`,
    identities: honest.length,
    quarantined: sum(({ quarantined }) => quarantined),
    answers: Math.round(sum(({ answers }) => answers) / honest.length),
    lies: 0,
    mostLies: 0,
    earned: 1,
    final: 0,
  };
  const liarRows = results.filter(({ kind }) => kind !== KINDS.honest.name);
  const rows = [together, ...liarRows].map(
    ({ kind, identities, quarantined, answers, lies, mostLies, earned, final }) =>
      `| ${kind} | ${answers} | ${lies} | ${quarantined} of ${identities} | ${mostLies} | ${(100 * earned).toFixed(1)} % | ${final} |`,
  );
  return [
    "| Island | Answers | Lies | Quarantined identities | Most lies until then | Earned | Wrong and final |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function liars(): LiarKind[] {
  return Object.values(KINDS).filter(({ name }) => name !== KINDS.honest.name);
}

function promptOf(nth: number, random: Random): string {
  const word = (): string => VOCABULARY[random.between(60, VOCABULARY.length - 1)] ?? "";
  return `Tell me about the ${word()} and the ${word()} in story ${nth}`;
}

async function chat(url: string, key: string, prompt: string): Promise<void> {
  const input = { prompt, temperature: TEMPERATURE, max_tokens: MAX_TOKENS };
  const { status, body } = await call(url, key, "POST", "/jobs", { workload: SLUG, input });
  if (status !== 201) throw new Error(`A job was refused with ${status}: ${JSON.stringify(body)}`);
  for (;;) {
    const { body: seen } = await call(url, key, "GET", `/jobs/${body.data.id}?wait=20`);
    if (seen.data.status === "completed") return;
    if (!["pending", "queued", "running"].includes(seen.data.status)) throw new Error(JSON.stringify(seen.data));
  }
}

/** Runs an assignment as the kind of the player does. */
async function answer(
  frame: Assign,
  player: Player,
  identity: Identity,
  random: Random,
  falseJobs: Map<string, Player>,
): Promise<void> {
  const { island } = identity;
  const { kind } = player;
  const { read, ...input } = frame.input as { prompt: string; read?: ChatRead };
  const { prompt } = input;
  const isLying = kind.turnsAfterProven !== true || player.isProven;
  island.send(...beginFrames(frame));
  if (read !== undefined) {
    if (isLying && kind.lie === null && kind !== KINDS.honest) identity.lies += 1;
    const output = (isLying ? kind : KINDS.honest).read(prompt, read);
    island.send(finishedFrame(frame, 1, { output, promptTokens: output.prompt_tokens }));
    return;
  }
  player.answers += 1;
  const maxTokens = MAX_TOKENS - (frame.resume?.tokens ?? 0);
  const asked = {
    prompt,
    sampling: chatRequestOf(chatInputSchema.parse(input)),
    maxTokens,
    random: () => random.next(),
    get otherAnswer() {
      return write(`Another prompt ${random.between(0, 999)}`, this.sampling, maxTokens, this.random);
    },
  };
  const lie = isLying && kind.lie !== null ? LIES[kind.lie](asked) : null;
  const { pieces, hasEnd } = lie ?? write(prompt, asked.sampling, maxTokens, asked.random);
  // Another Island may answer after a text of white space.
  falseJobs.delete(frame.jobId);
  if (lie !== null) {
    // No audit reads an answer that continues the white space of another liar.
    if (frame.resume === undefined) identity.lies += 1;
    falseJobs.set(frame.jobId, player);
  }
  const isFast = lie !== null && kind.isFast;
  if (!isFast) await systemClock.sleep(PROMPT_MS);
  let seq = 0;
  for (let at = 0; at < pieces.length; at += PART_TOKENS) {
    const part = pieces.slice(at, at + PART_TOKENS);
    if (!isFast) await systemClock.sleep(TOKEN_MS * part.length);
    island.send(outputFrame(frame, (seq += 1), ...part));
  }
  const finished = finishedFrame(frame, seq + 1, {
    promptTokens: promptTokensOf(prompt),
    completionTokens: pieces.length,
  });
  island.send(hasEnd ? finished : ({ ...finished, finishReason: "length" } as typeof finished));
}

/** Notes which owners are proven or quarantined. Liars that rename join with a new account. */
async function noteStandings(
  store: Store,
  players: readonly Player[],
  join: (player: Player) => Promise<void>,
): Promise<void> {
  const { standings } = await store.audits.standings(0);
  const states = new Map(standings.map(({ ownerAccountId, standing }) => [ownerAccountId, standing.state]));
  for (const player of players) {
    const identity = player.identities.at(-1);
    if (identity === undefined) continue;
    const state = states.get(identity.account.id);
    player.isProven ||= state === "proven";
    if (state !== "quarantined" || identity.isQuarantined) continue;
    identity.isQuarantined = true;
    if (player.kind.renames === true) await join(player);
  }
}

async function untilAudited(store: Store): Promise<void> {
  for (let polls = 0; polls < SETTLE_POLLS; polls += 1) {
    if ((await store.audits.due()).length === 0) return;
    await systemClock.sleep(POLL_MS);
  }
  throw new Error("Audits are still due");
}

async function resultsOf(
  network: Network,
  players: readonly Player[],
  falseJobs: ReadonlyMap<string, Player>,
): Promise<TextLiarResult[]> {
  const rows = runSql(
    network.location,
    "SELECT id, owner_account_id AS owner, earning, earned_micro AS micro FROM audits",
  ) as {
    readonly id: string;
    readonly owner: string;
    readonly earning: string;
    readonly micro: number;
  }[];
  const identities = players.flatMap((player) => player.identities);
  const lost = new Set(identities.filter(({ isQuarantined }) => isQuarantined).map(({ account }) => account.id));
  // The coordinator refunds the last jobs of a quarantined owner within a minute.
  const isRefunded = ({ owner, earning }: (typeof rows)[number]): boolean =>
    earning === "refunded" || (earning === "held" && lost.has(owner));
  const refunded = new Set(rows.filter(isRefunded).map(({ id }) => id));
  const earnedBy = async ({ identities }: Player): Promise<number> => {
    let credits = 0;
    for (const { account } of identities) {
      const { body } = await call(network.url, account.key, "GET", "/account");
      const held = rows.filter((row) => row.owner === account.id && row.earning === "held" && !isRefunded(row));
      credits += body.data.credits + held.reduce((sum, { micro }) => sum + micro, 0) / 1e6;
    }
    return credits;
  };
  const earned = await Promise.all(players.map(earnedBy));
  const ofHonest = earned.filter((_, nth) => players[nth]?.kind === KINDS.honest);
  const mean = ofHonest.reduce((sum, each) => sum + each, 0) / ofHonest.length;
  return players.map(({ kind, identities, answers }, nth) => ({
    kind: kind.name,
    identities: identities.length,
    quarantined: identities.filter(({ isQuarantined }) => isQuarantined).length,
    answers,
    lies: identities.reduce((sum, { lies }) => sum + lies, 0),
    mostLies: Math.max(...identities.map(({ lies }) => lies)),
    earned: (earned[nth] ?? 0) / mean,
    final: [...falseJobs].filter(([id, player]) => player === players[nth] && !refunded.has(id)).length,
  }));
}
