import { chatInputSchema, type ChatRequest, chatRequestOf } from "../../shared/chat-input.ts";
import type { ChatRead, ChatReading } from "../../shared/chat-reading.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { isTerminal } from "../../shared/job-state.ts";
import type { Logger } from "../../shared/logger.ts";
import { counter } from "../../shared/metrics.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { unknownPasswordHash } from "../accounts/passwords.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { type Evidence, NEW_STANDING, type Verdict } from "../credits/standing.ts";
import { grantPostings } from "../credits/postings.ts";
import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobApi } from "../jobs/job-service.ts";
import { traitsOf } from "../jobs/job-traits.ts";
import { openUntil } from "../jobs/until-feed.ts";
import { DEFAULT_LIMITS } from "../quotas/account-limits.ts";
import type { Audit, Reading } from "../store/audits.ts";
import type { JobInput, JobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { isJudgeable } from "./audit-plans.ts";
import type { Readers } from "./readers.ts";
import { addReading, isEvidence, judgeReading, verdictOf } from "./evidence.ts";
import { chargesTooMuch, checkReading, drawPositions, scoreReading } from "./reading.ts";
import type { Standings } from "./standings.ts";

/** Maximum number of audits at the same time. */
const MAX_IN_FLIGHT = 16;
/** Positions at which a reader returns the distribution. */
const POSITIONS = 24;
/** Maximum readers of an answer: two that disagree, and a third that decides. */
const MAX_READERS = 3;
/** Maximum owners that are asked to read an answer, with those that do not. */
const MAX_ASKED = 6;
/** A reader that disagrees with both others is found to lie if its log probabilities differ by this mean, in nats. */
const LYING_READER_NATS = 1;
/** Share of audits that go to a second reader although the first one is content, to find readers that lie. */
const SECOND_READER_SHARE = 0.05;
/** An audit without a reader is tried again after this time, and is unclear after a day. */
const RETRY_MS = 5_000;
const AUDITED_WITHIN_MS = 24 * 3_600_000;
/** Time after which an earning is paid that no audit decides. */
const HELD_MS = 24 * 3_600_000;
const SETTLE_EVERY_MS = 60_000;
/** Time limit of a reading, waiting included. An owner that exceeds it is not asked for a while. */
const READ_LIMIT_MS = 120_000;
const NOT_ASKED_MS = 3_600_000;
/** Characters of an answer that are read at most, and at least where the context is short. A token may be one byte. */
const MAX_CHARS = 8_000;
const MIN_CHARS = 200;
const MAX_SILENT = 1_000;
/** E-mail address of the account that pays for audits. It cannot be registered, because it has no domain. */
const AUDITOR = "audits";
/** Credits that the network gives to that account when it has too few. */
const TOP_UP_MICRO = 1_000 * MICRO_PER_CREDIT;

type DueAudit = Pick<Audit, "jobId" | "ownerAccountId" | "slug">;

/** What the readers of an audit read. */
interface Question {
  readonly record: JobRecord;
  readonly input: JobInput;
  readonly chat: ChatRequest;
  readonly read: ChatRead;
  /** Whether the whole answer is read. */
  readonly isWhole: boolean;
}

interface JudgedReading {
  readonly reading: Reading;
  readonly positions: ChatReading["positions"];
  /** The evidence about the owner of the answer, with this reading. */
  readonly evidence: Evidence;
}

export type Auditor = ReturnType<typeof openAuditor>;

/** Audits ended jobs: other owners' Islands read the answer, and the verdict changes the owner's standing. */
export function openAuditor(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  store: Pick<Store, "accounts" | "audits" | "islands" | "jobs" | "ledger">,
  catalog: Pick<Catalog, "known">,
  ended: Pick<JobRegistry, "subscribe">,
  jobs: Pick<JobApi, "submit" | "keepUntilEnd">,
  readers: Pick<Readers, "choose">,
  standings: Pick<Standings, "addDue" | "note" | "of">,
  random: () => number,
) {
  const audits = counter("atoll_audits_total", "Audits of jobs by their verdict", ["verdict"]);
  const queue = new Map<string, DueAudit>();
  const inFlight = new Map<string, Promise<void>>();
  /** Owners with an audit in flight, by Cargo. Their audits follow each other, so that the evidence adds up. */
  const busy = new Set<string>();
  const retries = new Map<string, Timer>();
  /** Audits that are due here, as far as a reader may be found. Those that operators demand are not among them. */
  const due = new Map<string, DueAudit>();
  /** Owners that did not read, with the time until which they are not asked. */
  const silent = recentMap<number>(MAX_SILENT);
  const stop = new AbortController();
  let settleTimer = clock.schedule(SETTLE_EVERY_MS, () => void settleHeld());
  let payerId: string | null = null;

  ended.subscribe((event) => {
    if (event.type === "job_dropped") noteDone(event.job.id);
    if (event.type !== "job_ended") return;
    const { job, ending } = event;
    if (ending.audit?.verdict !== "due") return;
    const { ownerAccountId, slug } = ending.audit;
    const audit = { jobId: job.id, ownerAccountId, slug };
    noteDue(audit);
    void job.settled?.then(() => add(audit));
  });

  function noteDue(audit: DueAudit): void {
    if (due.has(audit.jobId)) return;
    due.set(audit.jobId, audit);
    standings.addDue(audit.ownerAccountId, audit.slug, 1);
  }

  function noteDone(jobId: string): void {
    const audit = due.get(jobId);
    if (audit === undefined) return;
    due.delete(jobId);
    standings.addDue(audit.ownerAccountId, audit.slug, -1);
  }

  function take(found: readonly DueAudit[]): void {
    for (const audit of found) {
      if (retries.has(audit.jobId)) continue;
      noteDue(audit);
      add(audit);
    }
  }

  function add(audit: DueAudit): void {
    if (inFlight.has(audit.jobId)) return;
    queue.set(audit.jobId, audit);
    pump();
  }

  function pump(): void {
    for (const [jobId, next] of queue) {
      if (stop.signal.aborted || inFlight.size >= MAX_IN_FLIGHT) return;
      const owner = `${next.ownerAccountId} ${next.slug}`;
      if (busy.has(owner)) continue;
      queue.delete(jobId);
      busy.add(owner);
      const done = audit(next)
        .catch((error: unknown) => {
          if (stop.signal.aborted) return;
          log.error({ err: error, job_id: jobId }, "Could not audit a job");
          retryLater(next);
        })
        .finally(() => {
          inFlight.delete(jobId);
          busy.delete(owner);
          pump();
        });
      inFlight.set(jobId, done);
    }
  }

  async function audit(next: DueAudit): Promise<void> {
    const row = await store.audits.ofJob(next.jobId);
    if (row === undefined || row.verdict !== "due") return noteDone(next.jobId);
    if (row.earning === "refunded") return conclude(row, "unclear", []);
    const cargo = catalog.known(row.slug);
    const question = await questionOf(row, cargo?.contextTokens ?? null);
    if (cargo === undefined || question === null) return conclude(row, "unclear", []);
    const nowMs = clock.now();
    const exclude = new Set([row.ownerAccountId, row.clientAccountId]);
    for (const [id, untilMs] of silent.entries()) if (untilMs > nowMs) exclude.add(id);
    const wantsTwo = random() < SECOND_READER_SHARE;
    const judged: JudgedReading[] = [];
    let verdict: Verdict | null = null;
    for (let asked = 0; verdict === null && judged.length < MAX_READERS && asked < MAX_ASKED; asked += 1) {
      // oxlint-disable-next-line no-await-in-loop -- Whether another reader is asked depends on this one.
      const reader = await readers.choose(cargo, exclude);
      if (reader === undefined) break;
      exclude.add(reader);
      // oxlint-disable-next-line no-await-in-loop -- The same.
      const reading = await readBy(reader, row, question);
      if (stop.signal.aborted) return;
      if (reading !== null) judged.push(reading);
      verdict = decide(judged, wantsTwo);
    }
    // After a restart, readers need a moment to come back.
    if (judged.length === 0 && nowMs - row.endedAtMs < AUDITED_WITHIN_MS) return retryLater(next);
    await conclude(row, verdict ?? decide(judged, false) ?? "unclear", judged);
  }

  /** An audit that waits for a reader does not keep its owner from jobs. */
  function retryLater(next: DueAudit): void {
    noteDone(next.jobId);
    retries.get(next.jobId)?.cancel();
    const timer = clock.schedule(RETRY_MS, () => {
      retries.delete(next.jobId);
      add(next);
    });
    retries.set(next.jobId, timer);
  }

  /** Stores the verdict, and quarantines a reader that contradicts the two others. */
  async function conclude(row: Audit, verdict: Verdict, judged: readonly JudgedReading[]): Promise<void> {
    const { jobId, slug, ownerAccountId } = row;
    // An alarm that no second reader confirms does not count.
    const evidence = judged.find(({ reading }) => reading.verdict === verdict)?.evidence;
    const readings = judged.map(({ reading }) => reading);
    const reason = `job ${jobId}: ${readings.length} readers found an answer that the model does not give`;
    const added = evidence ?? standings.of(ownerAccountId, slug).evidence;
    const standing = await store.audits.record(jobId, verdict, readings, added, reason, clock.now());
    noteDone(jobId);
    if (standing === undefined) return;
    audits.add([verdict]);
    standings.note({ ownerAccountId, slug, standing });
    if (verdict === "inconsistent") log.warn({ job_id: jobId, account_id: ownerAccountId, cargo: slug }, reason);
    const liar = lyingReader(judged)?.reading.ownerAccountId;
    if (liar === undefined || standings.of(liar, slug).state === "trusted") return;
    const because = `job ${jobId}: read other probabilities than two other readers`;
    const stored = {
      ownerAccountId: liar,
      slug,
      standing: { ...NEW_STANDING, state: "quarantined", reason: because },
    } as const;
    await store.audits.set(stored, clock.now());
    standings.note(stored);
    log.warn({ job_id: jobId, account_id: liar, cargo: slug }, because);
  }

  /** Returns the text of a job and its record; null for a removed text, and for one of several Islands. */
  async function answerOf(jobId: string): Promise<{ readonly record: JobRecord; readonly text: string } | null> {
    const record = await store.jobs.get(jobId);
    if (record === undefined || record.inputRemovedAtMs !== null || record.outputRemovedAtMs !== null) return null;
    const parts = await store.jobs.feed(jobId);
    const texts = parts.map(({ attempt, items }) => {
      return { attempt, text: items.map((item) => (item.type === "token" ? item.content : "")).join("") };
    });
    const written = texts.filter(({ text }) => text !== "");
    if (new Set(written.map(({ attempt }) => attempt)).size !== 1) return null;
    return { record, text: written.map(({ text }) => text).join("") };
  }

  /** Returns what is read of an answer: all of it, or a beginning that fits into the context. */
  async function questionOf({ jobId }: Audit, contextTokens: number | null): Promise<Question | null> {
    const answer = await answerOf(jobId);
    if (answer === null) return null;
    const { record, text } = answer;
    const input = await store.jobs.input(jobId);
    const chat = chatRequestOf(chatInputSchema.parse(input));
    const left = (contextTokens ?? MAX_CHARS) - (record.usage?.promptTokens ?? 0);
    const part = beginningOf(text, Math.max(MIN_CHARS, Math.min(MAX_CHARS, left)));
    if (part === null) return null;
    const isWhole = part === text;
    // A stop sequence is not part of the text, so the model's own end is unknown then.
    const hasEnd = record.finishReason === "stop" && chat.stop.length === 0 && isWhole;
    // All readers read the same positions, so that their readings can be compared.
    const read = { text: part, has_end: hasEnd, at: drawPositions(POSITIONS, random) };
    return { record, input: { ...input, read }, chat, read, isWhole };
  }

  /** Lets an owner's Island read the answer; null if it did not. */
  async function readBy(reader: string, row: Audit, question: Question): Promise<JudgedReading | null> {
    const { record, chat, read, isWhole } = question;
    const done = await runReading(reader, row.slug, question.input);
    if (stop.signal.aborted) return null;
    const reading = done === null ? { problem: "it did not read" } : checkReading(done.output, read);
    if (done === null || "problem" in reading) {
      const problem = "problem" in reading ? reading.problem : null;
      log.warn({ job_id: row.jobId, account_id: reader, problem }, "An owner's Islands did not read an answer");
      silent.set(reader, clock.now() + NOT_ASKED_MS);
      return null;
    }
    const score = scoreReading(reading, chat, read.has_end);
    const before = standings.of(row.ownerAccountId, row.slug).evidence;
    const evidence = isEvidence(chat) ? addReading(before, score) : before;
    const judged = isEvidence(chat) ? verdictOf(evidence) : judgeReading(score, chat);
    const verdict = isWhole && chargesTooMuch(row.chargedMicro, record, reading) ? "inconsistent" : judged;
    const found = { jobId: done.id, ownerAccountId: reader, verdict, surprise: score.z };
    return { reading: found, positions: reading.positions, evidence };
  }

  /** Runs a reading. Returns its record; null if it did not complete on an Island of the reader. */
  async function runReading(reader: string, slug: string, input: JobInput): Promise<JobRecord | null> {
    const handle = await submit(slug, input, reader);
    const { id, accountId } = handle.record;
    const limit = new AbortController();
    const timer = clock.schedule(READ_LIMIT_MS, () => limit.abort());
    try {
      await openUntil(
        () => handle.openFeed(),
        ({ ending }) => ending !== null,
        AbortSignal.any([stop.signal, limit.signal]),
      );
      if (limit.signal.aborted) await handle.cancel().catch(() => undefined);
      const done = stop.signal.aborted ? undefined : await store.jobs.get(id);
      if (done?.state !== "completed" || done.islandId === null) return null;
      // A job that moved to another coordinator may have gone to another owner.
      const island = await store.islands.get(done.islandId);
      return island?.accountId === reader ? done : null;
    } finally {
      timer.cancel();
      // The client may delete its prompt, of which the reading has a copy.
      await jobs.keepUntilEnd(accountId, id).catch(() => undefined);
    }
  }

  async function submit(slug: string, input: JobInput, reader: string) {
    const accountId = await payer();
    const request = {
      accountId,
      limits: { ...DEFAULT_LIMITS, concurrentJobs: 2 * MAX_IN_FLIGHT * MAX_READERS },
      slug,
      priority: 0,
      idempotency: null,
      input,
      reader,
      waitLimitMs: READ_LIMIT_MS,
      // A restart repeats the audit with other readers, so it cancels the readings before.
      isClientBound: true,
    };
    try {
      return await jobs.submit(request);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "insufficient_credits") throw error;
      await store.ledger.post(grantPostings(accountId, TOP_UP_MICRO), clock.now());
      return jobs.submit(request);
    }
  }

  /** Returns the account that pays for audits. The first audit of the network creates it. */
  async function payer(): Promise<string> {
    payerId ??= (await store.accounts.getByEmail(AUDITOR))?.id ?? null;
    if (payerId !== null) return payerId;
    const createdAtMs = clock.now();
    const id = newId("user", createdAtMs);
    const account = { id, email: AUDITOR, passwordHash: unknownPasswordHash(), createdAtMs };
    try {
      await store.accounts.create({ ...account, postings: grantPostings(id, TOP_UP_MICRO) });
    } catch (error) {
      // Another coordinator has created it.
      if (!(error instanceof ServiceError) || error.code !== "email_taken") throw error;
    }
    payerId = (await store.accounts.getByEmail(AUDITOR))?.id ?? null;
    if (payerId === null) throw new Error("The account that pays for audits could not be created");
    return payerId;
  }

  /** Returns why a job cannot be audited; null if it can. */
  async function refusalOf(jobId: string): Promise<ServiceError | null> {
    const [record, row] = await Promise.all([store.jobs.get(jobId), store.audits.ofJob(jobId)]);
    if (record === undefined) return new ServiceError("not_found", `There is no job "${jobId}"`);
    const { accountId, state } = record;
    if (!isTerminal(state)) return refused(jobId, `it is ${state}. Only ended jobs are audited`);
    if (row === undefined) {
      return refused(jobId, "its Island's owner was paid at once, or the audit is older than 90 days and was removed");
    }
    if (!row.mayAudit) return refused(jobId, 'its client sent audit: "never", so no other Island may read its prompt');
    if (record.inputRemovedAtMs !== null || record.outputRemovedAtMs !== null) {
      return new ServiceError("content_removed", `The input or output of job "${jobId}" was removed`);
    }
    const cargo = catalog.known(row.slug);
    if (cargo === undefined) return refused(jobId, `the Cargo "${row.slug}" no longer exists`);
    if (!isJudgeable(traitsOf(await store.jobs.input(jobId), cargo, 0, accountId))) {
      return refused(jobId, "only a text without JSON, tools, reasoning and images can be judged");
    }
    const answer = await answerOf(jobId);
    return answer === null ? refused(jobId, "it has no text that a single Island wrote") : null;
  }

  async function resumeOne(jobId: string): Promise<void> {
    // An earlier audit of the job may just have stored its verdict.
    await inFlight.get(jobId);
    const row = await store.audits.ofJob(jobId).catch((error: unknown) => {
      log.error({ err: error, job_id: jobId }, "Could not begin an audit");
    });
    if (row !== undefined) add(row);
  }

  async function settleHeld(): Promise<void> {
    const nowMs = clock.now();
    await store.audits.settleHeld(nowMs - HELD_MS, nowMs).catch((error: unknown) => {
      log.error({ err: error }, "Could not settle held earnings");
    });
    if (!stop.signal.aborted) settleTimer = clock.schedule(SETTLE_EVERY_MS, () => void settleHeld());
  }

  return {
    metrics: [audits],
    async start(): Promise<void> {
      take(await store.audits.due());
    },
    refusalOf,
    /** Audits jobs whose audits have just become due. */
    resume(jobIds: readonly string[]): void {
      for (const jobId of jobIds) void resumeOne(jobId);
    },
    /** Adopts the audits of dead coordinators. May be called repeatedly. */
    async adoptUnowned(): Promise<void> {
      take(await store.audits.adopt());
    },
    /** Ends the audits in flight. The next start, or another coordinator, repeats them. */
    async close(): Promise<void> {
      stop.abort();
      settleTimer.cancel();
      for (const timer of retries.values()) timer.cancel();
      await Promise.all(inFlight.values());
    },
  };
}

/**
 * Returns the text, or its beginning up to white space: part of a word would be an improbable token. Null for a long text
 * without white space.
 */
function beginningOf(text: string, maxChars: number): string | null {
  if (text.length <= maxChars) return text;
  return /^.*\S(?=\s)/s.exec(text.slice(0, maxChars))?.[0] ?? null;
}

/** Returns the reader whose probabilities differ from those of two others, which agree; undefined if none does. */
function lyingReader(judged: readonly JudgedReading[]): JudgedReading | undefined {
  if (judged.length < MAX_READERS) return undefined;
  return judged.find((each) => {
    const [first, second] = judged.filter((other) => other !== each);
    if (first === undefined || second === undefined) return false;
    const isApart = (other: JudgedReading): boolean => distance(each.positions, other.positions) > LYING_READER_NATS;
    return isApart(first) && isApart(second) && distance(first.positions, second.positions) < LYING_READER_NATS / 2;
  });
}

function distance(a: JudgedReading["positions"], b: JudgedReading["positions"]): number {
  if (a.length !== b.length) return Infinity;
  return a.reduce((sum, { logprob }, index) => sum + Math.abs(logprob - (b[index]?.logprob ?? 0)), 0) / a.length;
}

/**
 * Returns the verdict of the readers so far; null if another one must be asked. Two of them must agree that an answer is
 * inconsistent. One is enough if it is content, unless `wantsTwo`.
 */
function decide(judged: readonly JudgedReading[], wantsTwo: boolean): Verdict | null {
  const count = (verdict: Verdict): number => judged.filter(({ reading }) => reading.verdict === verdict).length;
  const good = count("consistent");
  const bad = count("inconsistent");
  if (judged.length === 1 && good + bad === 0) return "unclear";
  if (bad >= 2) return "inconsistent";
  if (good >= 2) return "consistent";
  if (good === 1 && bad === 0 && !wantsTwo) return "consistent";
  return null;
}

function refused(jobId: string, reason: string): ServiceError {
  return new ServiceError("bad_request", `The job "${jobId}" cannot be audited: ${reason}`);
}
