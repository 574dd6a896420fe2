import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openAuditor } from "../../coordinator/audits/auditor.ts";
import { planAudits } from "../../coordinator/audits/audit-plans.ts";
import { findReaders } from "../../coordinator/audits/readers.ts";
import { openStandings } from "../../coordinator/audits/standings.ts";
import { cargoOf, readCargo } from "../../coordinator/catalog/cargo-file.ts";
import type { CatalogEntry } from "../../coordinator/catalog/catalog.ts";
import { grantPostings, holdPostings } from "../../coordinator/credits/postings.ts";
import { priceJob } from "../../coordinator/credits/pricing.ts";
import { settle } from "../../coordinator/credits/settle.ts";
import { TRUSTED } from "../../coordinator/credits/standing.ts";
import { NO_TERMS } from "../../coordinator/credits/trust.ts";
import type { ActiveJob } from "../../coordinator/jobs/active-job.ts";
import type { NewAudit } from "../../coordinator/store/audits.ts";
import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { ChatRead, ChatReading } from "../../shared/chat-reading.ts";
import type { Logger } from "../../shared/logger.ts";
import { isVisibleText } from "../../shared/visible-text.ts";
import { KINDS, type LiarKind } from "../../test/support/toy-model/liar-kinds.ts";
import { LIES, tokensOf } from "../../test/support/toy-model/false-answers.ts";
import { promptTokensOf, VOCABULARY, write, type Written } from "../../test/support/toy-model/toy-model.ts";
import { VirtualClock } from "../cells/virtual-clock.ts";
import { seeded } from "../fleet/fleets.ts";
import { openMemoryStore } from "./memory-store.ts";

/*
 * A network in virtual time: modelled Islands answer and read with the toy model. Plans, readers, verdicts, standings and
 * the ledger are the coordinator's code. A job goes to a random free Island.
 */

const SLUG = "tiny-chat";
const CLIENTS = 40;
const NETWORK_FEE = 0.1;
const AUDIT_SHARE = 0.03;
export const MAX_TOKENS = 100;
const GRANT_MICRO = 1_000_000_000_000;
/** Duration of an honest answer, and of the answer of a liar without the model. */
const PROMPT_MS = 300;
const TOKEN_MS = 25;
const FAST_MS = 50;
const READ_MS = 500;
/** Prompt tokens of work for an output token, as in `audit-plans.ts`. */
export const OUTPUT_WORK = 4;
/** Random free Islands that are tried before all are searched. */
const TRIES = 20;
/** Time after the last job in which due audits end. */
const DRAIN_MS = 600_000;

export interface SimulationOptions {
  readonly seed: number;
  readonly jobs: number;
  readonly islands: number;
  readonly owners: number;
  /** Share of owners that lie. */
  readonly liars: number;
  /** Honest owners that an operator trusts. */
  readonly trusted: number;
  /** Time in which the jobs arrive. */
  readonly hours: number;
  /** Share of jobs with `trust: proven`. */
  readonly provenShare: number;
}

/** Figures of all Islands of a kind. */
export interface KindFigures {
  readonly kind: string;
  readonly islands: number;
  readonly jobs: number;
  /** Credits that an Island has or gets, divided by an honest Island's. */
  readonly earned: number;
  /** Identities, those that were quarantined, and their lies until then: median and maximum. */
  readonly identities: number;
  readonly quarantined: number;
  readonly medianLies: number;
  readonly maxLies: number;
  /** Wrong answers that stayed final. */
  readonly final: number;
}

export interface SimulationResult {
  readonly kinds: readonly KindFigures[];
  readonly any: FinalShare;
  readonly proven: FinalShare;
  readonly honestIslands: number;
  readonly honestQuarantined: number;
  readonly audits: number;
  /** Work of readings of proven owners' answers, and of all readings, relative to the work of all jobs. */
  readonly provenAuditShare: number;
  readonly auditShare: number;
  /** Work of all jobs that were answered, and of all readings, relative to one answer for each job. */
  readonly compute: number;
  readonly isBalanced: boolean;
}

interface FinalShare {
  readonly jobs: number;
  readonly wrongFinal: number;
}

interface Identity {
  readonly id: string;
  lies: number;
  isQuarantined: boolean;
}

export interface Owner {
  readonly kind: LiarKind | null;
  readonly islands: Island[];
  readonly identities: Identity[];
  readonly readings: (() => void)[];
  /** Whether the owner has been proven and lies from now on. */
  hasTurned: boolean;
}

interface Island {
  readonly id: string;
  readonly owner: Owner;
  /** Index in the list of free Islands; -1 while it is busy. */
  freeAt: number;
}

interface Job {
  readonly id: string;
  readonly prompt: string;
  readonly clientId: string;
  readonly needsProven: boolean;
  /** Identities that answered without a visible text. */
  readonly emptyFrom: string[];
}

interface Answered {
  readonly job: Job;
  readonly owner: Owner;
  readonly isWrong: boolean;
  readonly isPaid: boolean;
  readonly written: Written;
  readonly earnedMicro: number;
  readonly isHeld: boolean;
  readonly wasProven: boolean;
  readonly islandId: string;
}

const TRAITS = { responseFormat: { type: "text" }, toolUse: null, canReason: false, features: [] };
const CHAT = { temperature: 0.8, max_tokens: MAX_TOKENS };

function loadCargo(): CatalogEntry {
  const path = join(import.meta.dirname, "../../catalog/cargos", `${SLUG}.json`);
  const read = readCargo(JSON.parse(readFileSync(path, "utf8")));
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  return { ...cargoOf(read.file), workloadId: 1, createdAtMs: 0 };
}

function identityOf({ identities }: Owner): Identity {
  const last = identities.at(-1);
  if (last === undefined) throw new Error("The owner has no account yet");
  return last;
}
const workOf = (prompt: string, written: Written): number => promptTokensOf(prompt) + OUTPUT_WORK * tokensOf(written);

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const { seed, jobs: jobCount, hours, provenShare } = options;
  const clock = new VirtualClock();
  const random = seeded(seed);
  const cargo = loadCargo();
  const store = openMemoryStore();
  const log = { error: fail, warn: () => undefined, info: () => undefined } as unknown as Logger;
  const owners = makeOwners(options, random);
  const ownerOf = new Map<string, Owner>();
  const islands = owners.flatMap((owner) => owner.islands);
  const answered = new Map<string, Answered>();
  const byPrompt = new Map<string, Answered>();
  const readingRecords = new Map<string, object>();
  const free: Island[] = [];
  const queue: Job[] = [];
  let [readings, jobWork, readWork, provenReadWork] = [0, 0, 0, 0];
  let running = 0;
  const listeners = new Set<(event: never) => void>();

  async function openAccount(owner: Owner | null, id: string, micro: number): Promise<void> {
    if (owner !== null) {
      owner.identities.push({ id, lies: 0, isQuarantined: false });
      ownerOf.set(id, owner);
    }
    const postings = micro === 0 ? [] : grantPostings(id, micro);
    await store.accounts.create({ id, email: `${id}@example.com`, passwordHash: "", createdAtMs: 0, postings });
  }
  const clients = Array.from({ length: CLIENTS }, (_, nth) => `client_${nth}`);
  for (const client of clients) await openAccount(null, client, GRANT_MICRO);
  for (const [nth, owner] of owners.entries()) await openAccount(owner, `owner_${nth}`, 0);
  const honest = owners.filter(({ kind }) => kind === null);
  for (const owner of honest.slice(0, options.trusted)) {
    const standing = { ...TRUSTED, reason: "known in person" };
    await store.audits.set({ ownerAccountId: identityOf(owner).id, slug: SLUG, standing }, clock.now());
  }

  // Other coordinators' changes do not exist here, so the standings need not be read again.
  const standings = await openStandings({ clock: { ...unscheduled, now: () => clock.now() }, log }, store);
  const features = ["chat.read"];
  const facts = { runtimes: ["llmcpp"], ramBytes: 2 ** 40, vramBytes: 0, draining: false, features };
  const readers = findReaders(
    clock,
    {
      *connected() {
        for (const { owner, id } of islands)
          yield { island: { id }, facts: { ...facts, accountId: identityOf(owner).id } } as never;
      },
      factsOf: () => [],
    },
    standings,
    () => null,
    random,
  );
  const planAudit = planAudits(standings, readers, () => cargo, AUDIT_SHARE, random);
  const { rates, heldMicro } = priceJob(cargo, { prompt: 200, completion: MAX_TOKENS }, 0, 1);

  const auditor = openAuditor(
    { clock, log },
    {
      ...store,
      content: { begin: async () => undefined },
      islands: { get: async (id: string) => ({ accountId: readerOfIsland.get(id) }) },
      jobs: {
        get: async (id: string) => takeReading(id) ?? recordOf(id),
        feed: async (id: string) => [
          { attempt: 1, items: [{ type: "token", content: answered.get(id)?.written.text ?? "" }] },
        ],
        input: async (id: string) => ({ ...CHAT, prompt: answered.get(id)?.job.prompt ?? "" }),
      },
    } as never,
    { known: () => cargo },
    { subscribe: (listener: never) => void listeners.add(listener) },
    { submit: submitReading, deleteContent: async () => undefined } as never,
    { results: () => Promise.reject(new Error("No job is repeated")) },
    readers,
    standings,
    random,
  );
  /** The account that an Island had when it read. */
  const readerOfIsland = new Map<string, string>();

  /** Returns the record of a reading once, because readings are large. */
  function takeReading(id: string): object | undefined {
    const found = readingRecords.get(id);
    readingRecords.delete(id);
    return found;
  }

  function recordOf(id: string): object | undefined {
    const found = answered.get(id);
    if (found === undefined) return undefined;
    const { hasEnd } = found.written;
    return {
      id,
      accountId: found.job.clientId,
      state: "completed",
      inputRemovedAtMs: null,
      outputRemovedAtMs: null,
      usage: { promptTokens: promptTokensOf(found.job.prompt) },
      finishReason: hasEnd ? "stop" : "length",
      islandId: found.islandId,
      rates,
      priceMicro: heldMicro,
    };
  }

  async function submitReading(request: {
    accountId: string;
    reader: string;
    input: { prompt: string; read: ChatRead };
  }) {
    await store.ledger.post(holdPostings(request.accountId, [heldMicro]), clock.now());
    const id = `reading_${(readings += 1)}`;
    const owner = ownerOf.get(request.reader);
    const feed = { ending: null as object | null, isCut: false, listeners: new Set<() => void>() };
    const run = (island: Island): void => {
      take(island);
      clock.schedule(READ_MS, () => {
        const { prompt, read } = request.input;
        const reading = readAs(island.owner, prompt, read);
        readerOfIsland.set(island.id, request.reader);
        const { accountId } = request;
        const done = { id, accountId, state: "completed", error: null, islandId: island.id, output: reading };
        readingRecords.set(id, done);
        const tokens = tokensOf({ text: read.text, pieces: [], hasEnd: read.has_end });
        readWork += promptTokensOf(prompt) + tokens;
        if (byPrompt.get(prompt)?.wasProven === true) provenReadWork += promptTokensOf(prompt) + tokens;
        void endJob(
          {
            id,
            islandId: island.id,
            ownerId: request.reader,
            clientId: request.accountId,
            prompt,
            tokens: 0,
            hasText: false,
          },
          true,
        );
        feed.ending = {};
        for (const listener of feed.listeners) listener();
        release(island);
      });
    };
    const island = owner?.islands.find(({ freeAt }) => freeAt !== -1);
    if (island !== undefined) run(island);
    else owner?.readings.push(() => run(owner.islands.find(({ freeAt }) => freeAt !== -1) as Island));
    const subscribe = (listener: () => void) => {
      feed.listeners.add(listener);
      return () => feed.listeners.delete(listener);
    };
    return {
      record: { id, accountId: request.accountId },
      openFeed: async () => Object.assign(feed, { subscribe }),
      cancel: async () => undefined,
    };
  }

  /** Plans the audit of an ended job and stores its end. Returns the plan and the credits. */
  function endJob(
    ended: {
      id: string;
      islandId: string;
      ownerId: string;
      clientId: string;
      prompt: string;
      tokens: number;
      hasText: boolean;
    },
    isHeldAlready: boolean,
  ) {
    const { id, islandId, ownerId, clientId, prompt, tokens, hasText } = ended;
    const total = promptTokensOf(prompt);
    const job = {
      earner: { islandId, accountId: ownerId },
      accountId: clientId,
      traits: TRAITS,
      terms: NO_TERMS,
      feed: { tokens, hasText },
      slug: SLUG,
      prompt: { total, done: total },
    } as unknown as ActiveJob;
    const plan = planAudit(job);
    const { chargeMicro, earnedMicro, postings } = settle({
      event: "complete",
      accountId: clientId,
      priceMicro: heldMicro,
      rates,
      hasOutput: true,
      isFaultOfIsland: false,
      deliveredTokens: tokens,
      readTokens: total,
      networkFee: NETWORK_FEE,
      ownerAccountId: ownerId,
      isEarningHeld: plan !== null,
    });
    const audit: NewAudit | null =
      plan === null
        ? null
        : {
            ownerAccountId: ownerId,
            slug: SLUG,
            clientAccountId: clientId,
            chargedMicro: chargeMicro,
            earnedMicro,
            earning: "held",
            verdict: plan,
            mayAudit: true,
          };
    const held = isHeldAlready ? [] : holdPostings(clientId, [heldMicro]);
    const settled = store.endJob(id, audit, [...held, ...postings], clock.now());
    return { audit, settled, earnedMicro };
  }

  function take(island: Island): void {
    const last = free.pop() as Island;
    if (last !== island) {
      free[island.freeAt] = last;
      last.freeAt = island.freeAt;
    }
    island.freeAt = -1;
  }

  function release(island: Island): void {
    island.freeAt = free.length;
    free.push(island);
    const reading = island.owner.readings.shift();
    if (reading !== undefined) return reading();
    const at = queue.findIndex((job) => mayRun(job, island));
    if (at !== -1) start(queue.splice(at, 1)[0] as Job, island);
  }

  function mayRun(job: Job, { owner }: Island): boolean {
    const { id } = identityOf(owner);
    if (standings.refusedWith(SLUG).has(id)) return false;
    if (job.emptyFrom.includes(id)) return false;
    if (!job.needsProven) return true;
    const { state } = standings.of(id, SLUG);
    return state === "proven" || state === "trusted";
  }

  function dispatch(job: Job): void {
    for (let count = 0; count < TRIES && free.length > 0; count += 1) {
      const island = free[Math.floor(random() * free.length)] as Island;
      if (mayRun(job, island)) return start(job, island);
    }
    const island = free.find((each) => mayRun(job, each));
    if (island === undefined) queue.push(job);
    else start(job, island);
  }

  function start(job: Job, island: Island): void {
    const { owner } = island;
    const { kind } = owner;
    take(island);
    if (kind?.turnsAfterProven === true && standings.of(identityOf(owner).id, SLUG).state === "proven")
      owner.hasTurned = true;
    const asked = {
      prompt: job.prompt,
      sampling: chatRequestOf(chatInputSchema.parse({ prompt: job.prompt, ...CHAT })),
      maxTokens: MAX_TOKENS,
      random,
      get otherAnswer() {
        return write(`Another prompt ${Math.floor(random() * 1_000)}`, this.sampling, MAX_TOKENS, random);
      },
    };
    const lies = kind !== null && kind.lie !== null && (kind.turnsAfterProven !== true || owner.hasTurned);
    const lie = lies && kind.lie !== null ? LIES[kind.lie](asked) : null;
    const written = lie ?? write(job.prompt, asked.sampling, MAX_TOKENS, random);
    const isFast = lie !== null && kind?.isFast === true;
    const identity = identityOf(owner);
    if (lie !== null) identity.lies += 1;
    const ms = isFast ? FAST_MS : PROMPT_MS + TOKEN_MS * tokensOf(written);
    clock.schedule(ms, () => end(job, island, identity, written, lie !== null));
  }

  function end(job: Job, island: Island, { id: ownerId }: Identity, written: Written, isWrong: boolean): void {
    jobWork += workOf(job.prompt, written);
    if (!isVisibleText(written.text)) {
      // Another Island must confirm an empty answer, which is free.
      release(island);
      job.emptyFrom.push(ownerId);
      if (job.emptyFrom.length === 1) return dispatch(job);
      running -= 1;
      return;
    }
    running -= 1;
    const wasProven = standings.of(ownerId, SLUG).state === "proven";
    const facts = {
      id: job.id,
      islandId: island.id,
      ownerId,
      clientId: job.clientId,
      prompt: job.prompt,
      tokens: tokensOf(written),
      hasText: true,
    };
    const { audit, settled, earnedMicro } = endJob(facts, false);
    const done = {
      job,
      owner: island.owner,
      isWrong,
      isPaid: audit === null,
      written,
      earnedMicro,
      isHeld: audit !== null,
      wasProven,
      islandId: island.id,
    };
    answered.set(job.id, done);
    byPrompt.set(job.prompt, done);
    const event = { type: "audit_due", job: { id: job.id, settled }, audit };
    if (audit?.verdict === "due") for (const listener of listeners) listener(event as never);
    release(island);
  }

  function readAs(owner: Owner, prompt: string, read: ChatRead): ChatReading {
    const { kind, hasTurned } = owner;
    const isHonest = kind === null || (kind.turnsAfterProven === true && !hasTurned);
    if (isHonest) return KINDS.honest.read(prompt, read);
    if (kind.lie === null) identityOf(owner).lies += 1;
    return kind.read(prompt, read);
  }

  for (const island of islands) release(island);
  /** Liars with a quarantined identity open another account. */
  async function renew(): Promise<void> {
    for (const owner of owners) {
      const identity = identityOf(owner);
      if (identity.isQuarantined || standings.of(identity.id, SLUG).state !== "quarantined") continue;
      identity.isQuarantined = true;
      if (owner.kind?.renames === true) await openAccount(owner, `${identity.id}+`, 0);
    }
  }
  standings.onChange(() => void renew());

  const everyMs = (hours * 3_600_000) / jobCount;
  let made = 0;
  const arrive = (): void => {
    if (made === jobCount) return;
    made += 1;
    running += 1;
    dispatch({
      id: `job_${made}`,
      prompt: promptOf(made, random),
      clientId: clients[made % CLIENTS] ?? "",
      needsProven: random() < provenShare,
      emptyFrom: [],
    });
    clock.schedule(Math.round(-Math.log(1 - random()) * everyMs), arrive);
  };
  arrive();
  await clock.runUntil(() => made === jobCount && running === 0);
  const endMs = clock.monotonicMs() + DRAIN_MS;
  await clock.runUntil(() => clock.monotonicMs() > endMs);
  await renew();
  await auditor.close();
  standings.close();

  const rows = new Map(store.allAudits().map((row) => [row.jobId, row]));
  const books = await store.ledger.verify();
  store.close();
  const all = [...answered.values()].map((each) => ({
    ...each,
    isRefunded: rows.get(each.job.id)?.earning === "refunded",
  }));
  const finalShare = (needsProven: boolean): FinalShare => {
    const some = all.filter(({ job }) => job.needsProven === needsProven);
    return { jobs: some.length, wrongFinal: some.filter(({ isWrong, isRefunded }) => isWrong && !isRefunded).length };
  };
  const earnedBy = (some: readonly Owner[]): number => {
    const set = new Set(some);
    const micro = all.reduce(
      (sum, { owner, isRefunded, earnedMicro }) => sum + (set.has(owner) && !isRefunded ? earnedMicro : 0),
      0,
    );
    return micro / some.reduce((sum, owner) => sum + owner.islands.length, 0);
  };
  const honestEarned = earnedBy(honest);
  const names = [...new Set(owners.map(({ kind }) => kind?.name ?? "honest"))];
  const kinds = names.map((kind): KindFigures => {
    const own = owners.filter((owner) => (owner.kind?.name ?? "honest") === kind);
    const identities = own.flatMap((owner) => owner.identities);
    const lies = identities
      .filter(({ isQuarantined }) => isQuarantined)
      .map((each) => each.lies)
      .toSorted((a, b) => a - b);
    const done = all.filter(({ owner }) => own.includes(owner));
    return {
      kind,
      islands: own.reduce((sum, owner) => sum + owner.islands.length, 0),
      jobs: done.length,
      earned: earnedBy(own) / honestEarned,
      identities: identities.length,
      quarantined: lies.length,
      medianLies: lies[Math.floor(lies.length / 2)] ?? 0,
      maxLies: lies.at(-1) ?? 0,
      final: done.filter(({ isWrong, isRefunded }) => isWrong && !isRefunded).length,
    };
  });
  const honestIslands = honest.flatMap((owner) => owner.islands).length;
  const honestQuarantined = honest
    .filter((owner) => identityOf(owner).isQuarantined)
    .flatMap((owner) => owner.islands).length;
  const oneEach = all.reduce((sum, { job, written }) => sum + workOf(job.prompt, written), 0);
  return {
    kinds,
    any: finalShare(false),
    proven: finalShare(true),
    honestIslands,
    honestQuarantined,
    audits: [...rows.values()].filter(({ verdict }) => ["consistent", "inconsistent", "unclear"].includes(verdict))
      .length,
    provenAuditShare: provenReadWork / jobWork,
    auditShare: readWork / jobWork,
    compute: (jobWork + readWork) / oneEach,
    isBalanced: books.sumMicro === 0 && books.wrongBalances.length === 0,
  };
}

function fail(facts: { err?: unknown }, message: string): never {
  throw new Error(message, { cause: facts.err });
}

const unscheduled = {
  schedule: () => ({ cancel: () => undefined }),
  sleep: () => new Promise<void>(() => undefined),
  monotonicMs: () => 0,
};

export function promptOf(nth: number, random: () => number): string {
  const word = (): string => VOCABULARY[60 + Math.floor(random() * 300)] ?? "";
  return `Tell me about the ${word()} and the ${word()} in story ${nth}`;
}

export function makeOwners({ owners, islands, liars }: SimulationOptions, random: () => number): Owner[] {
  const lying = Math.round(liars * owners);
  const kinds = Object.values(KINDS).filter(({ name }) => name !== "honest");
  const made = Array.from({ length: owners }, (_, nth): Owner => {
    const kind = nth < owners - lying ? null : (kinds[nth % kinds.length] ?? null);
    return { kind, islands: [], identities: [], readings: [], hasTurned: false };
  });
  for (let nth = 0; nth < islands; nth += 1) {
    const owner = made[nth < owners ? nth : Math.floor(random() * owners)] as Owner;
    owner.islands.push({ id: `island_${nth}`, owner, freeAt: -1 });
  }
  return made;
}
