import type { Clock, Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { SEEDED_FEATURE } from "../../shared/features/cargo-features.ts";
import { isTerminal } from "../../shared/job-state.ts";
import type { Logger } from "../../shared/logger.ts";
import { counter } from "../../shared/metrics.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import type { Checks } from "../checks/checks.ts";
import { NEW_STANDING, type Verdict } from "../credits/standing.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobApi } from "../jobs/job-service.ts";
import { traitsOf } from "../jobs/job-traits.ts";
import { type Audit, SETTLED_TOGETHER } from "../store/audits.ts";
import type { Store } from "../store/store.ts";
import { auditKindOf, needsSeed } from "./audit-kinds.ts";
import { unjudgeableOf } from "./audit-plans.ts";
import type { Judgement, Question } from "./question.ts";
import { openReaderJobs } from "./reader-jobs.ts";
import type { Readers } from "./readers.ts";
import { readingQuestion, textOf } from "./reading-question.ts";
import { repeatQuestion } from "./repeat-question.ts";
import type { Standings } from "./standings.ts";
import { agreeingReaders, decide, lyingReader, MAX_READERS } from "./verdicts.ts";

/** Maximum number of audits at the same time. */
const MAX_IN_FLIGHT = 16;
/** Maximum owners that are asked about an answer, with those that do not run the job. */
const MAX_ASKED = 6;
/**
 * Least share of audits that go to a second reader although the first one is content, to find readers that lie. The
 * share is higher for readers whose readings were seldom compared.
 */
const SECOND_READER_SHARE = 0.05;
/** Number of times that two others must contradict a reader: two that lie alike may meet an honest one. */
const MIN_CONTRADICTIONS = 2;
/** Owners whose compared readings are counted. */
const MAX_COUNTED = 10_000;
/** An audit without a reader, or that failed, is tried again after this time. */
const RETRY_MS = 5_000;
/**
 * Time after the end of a job within which its audit is retried, and after which an earning is paid that no audit
 * decides.
 */
const HELD_MS = 24 * 3_600_000;
const SETTLE_EVERY_MS = 60_000;
/** Delay after as many earnings were settled as one write may, because more may be left. */
const SETTLE_AGAIN_MS = 1_000;
/** Time for which an owner is not asked that did not run an audit's job. */
const NOT_ASKED_MS = 3_600_000;
const MAX_SILENT = 1_000;

type DueAudit = Pick<Audit, "jobId" | "ownerAccountId" | "slug">;

export type Auditor = ReturnType<typeof openAuditor>;

/** Audits ended jobs: other owners' Islands read the answer or repeat the job, and the verdict changes the owner's standing. */
export function openAuditor(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  store: Pick<Store, "accounts" | "audits" | "content" | "islands" | "jobs" | "ledger">,
  catalog: Pick<Catalog, "known">,
  ended: Pick<JobRegistry, "subscribe">,
  jobs: Pick<JobApi, "submit" | "deleteContent">,
  checks: Pick<Checks, "results">,
  readers: Pick<Readers, "choose" | "hasFeature">,
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
  /** Owners that did not read, by owner and Cargo, with the time until which they are not asked. */
  const silent = recentMap<{ readonly reader: string; readonly slug: string; readonly untilMs: number }>(MAX_SILENT);
  /** Number of readings of each owner that agreed with another owner's. */
  const agreed = recentMap<number>(MAX_COUNTED);
  /** Number of readings of each owner that two others contradicted. */
  const contradicted = recentMap<number>(MAX_COUNTED);
  const stop = new AbortController();
  const readerJobs = openReaderJobs(clock, store, jobs, stop.signal);
  let settleTimer = clock.schedule(SETTLE_EVERY_MS, () => void settleHeld());

  ended.subscribe((event) => {
    if (event.type === "job_dropped" || event.type === "offer_withdrawn") noteDone(event.job.id);
    if (event.type !== "audit_due") return;
    const { job } = event;
    const { ownerAccountId, slug } = event.audit;
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
      const done = auditOrRetry(next)
        .catch((error: unknown) => {
          if (stop.signal.aborted) return;
          logFailure(error, jobId);
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

  /** An audit that always fails must not be retried without end. */
  async function auditOrRetry(next: DueAudit): Promise<void> {
    const row = await store.audits.ofJob(next.jobId);
    if (row === undefined || row.verdict !== "due") return noteDone(next.jobId);
    try {
      await audit(next, row);
    } catch (error) {
      if (stop.signal.aborted) return;
      logFailure(error, next.jobId);
      if (isRecent(row)) retryLater(next);
      else await conclude(row, null, "unclear", []);
    }
  }

  function logFailure(error: unknown, jobId: string): void {
    log.error({ err: error, job_id: jobId }, "Could not audit a job");
  }

  function isRecent({ endedAtMs }: Audit): boolean {
    return clock.now() - endedAtMs < HELD_MS;
  }

  async function audit(next: DueAudit, row: Audit): Promise<void> {
    if (row.earning === "refunded") return conclude(row, null, "unclear", []);
    const cargo = catalog.known(row.slug);
    const question = cargo === undefined ? null : await questionOf(row, cargo);
    if (cargo === undefined || question === null) return conclude(row, null, "unclear", []);
    const onlyProven = (await store.jobs.get(row.jobId))?.terms?.trust === "proven";
    const nowMs = clock.now();
    const exclude = new Set([row.ownerAccountId, row.clientAccountId]);
    for (const [, { reader, slug, untilMs }] of silent.entries()) {
      if (slug === row.slug && untilMs > nowMs) exclude.add(reader);
    }
    const chance = random();
    const judged: Judgement[] = [];
    /** Like answers, readings of an owner are compared always at first, and then with probability 1 / agreed ones. */
    const wantsTwo = (): boolean => {
      const [first] = judged;
      const count = first === undefined ? 0 : (agreed.get(first.reading.ownerAccountId) ?? 0);
      return chance < Math.max(SECOND_READER_SHARE, 1 / (1 + count));
    };
    let verdict: Verdict | null = null;
    for (let asked = 0; verdict === null && judged.length < MAX_READERS && asked < MAX_ASKED; asked += 1) {
      // oxlint-disable-next-line no-await-in-loop -- Whether another reader is asked depends on this one.
      const reader = await readers.choose(cargo, exclude, onlyProven);
      if (reader === undefined) break;
      exclude.add(reader);
      // oxlint-disable-next-line no-await-in-loop -- The same.
      const judgement = await ask(reader, row, question);
      if (stop.signal.aborted) return;
      if (judgement !== null) judged.push(judgement);
      verdict = decide(judged, wantsTwo());
    }
    // After a restart, readers need a moment to come back.
    if (judged.length === 0 && isRecent(row)) return retryLater(next);
    await conclude(row, question, verdict ?? decide(judged, false) ?? "unclear", judged);
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
  async function conclude(
    row: Audit,
    question: Question | null,
    verdict: Verdict,
    judged: readonly Judgement[],
  ): Promise<void> {
    const { jobId, slug, ownerAccountId } = row;
    // An alarm that no second reader confirms does not count, and of several readings the one that doubts least.
    const [evidence] = judged
      .filter(({ reading }) => reading.verdict === verdict)
      .map((each) => each.evidence)
      .toSorted((a, b) => a.suspicion - b.suspicion);
    const readings = judged.map(({ reading }) => reading);
    const reason = `job ${jobId}: ${readings.length} readers ${question?.lie ?? "found a lie"}`;
    const added = evidence ?? standings.of(ownerAccountId, slug).evidence;
    const standing = await store.audits.record(jobId, verdict, readings, added, reason, clock.now());
    noteDone(jobId);
    if (standing === undefined) return;
    audits.add([verdict]);
    standings.note({ ownerAccountId, slug, standing });
    if (verdict === "inconsistent") log.warn({ job_id: jobId, account_id: ownerAccountId, cargo: slug }, reason);
    const liar = lyingReader(judged)?.reading.ownerAccountId;
    for (const { reading } of agreeingReaders(judged)) {
      agreed.set(reading.ownerAccountId, (agreed.get(reading.ownerAccountId) ?? 0) + 1);
    }
    if (liar === undefined || standings.of(liar, slug).state === "trusted") return;
    // All its readings are compared again.
    agreed.set(liar, 0);
    const times = (contradicted.get(liar) ?? 0) + 1;
    contradicted.set(liar, times);
    if (times < MIN_CONTRADICTIONS) return;
    const because = `job ${jobId}: returned another result than two other readers, and not for the first time`;
    const stored = {
      ownerAccountId: liar,
      slug,
      standing: { ...NEW_STANDING, state: "quarantined", reason: because },
    } as const;
    await store.audits.set(stored, clock.now());
    standings.note(stored);
    log.warn({ job_id: jobId, account_id: liar, cargo: slug }, because);
  }

  async function questionOf(row: Audit, cargo: CatalogEntry): Promise<Question | null> {
    const evidenceOf = () => standings.of(row.ownerAccountId, row.slug).evidence;
    const kind = auditKindOf(cargo);
    if (kind === null) return null;
    return kind === "read"
      ? readingQuestion(store.jobs, row, cargo.contextTokens, evidenceOf, random)
      : repeatQuestion(store.jobs, checks, readers, row, cargo, evidenceOf);
  }

  /** Lets an owner's Island read an answer or repeat its job; null if it did not. */
  async function ask(reader: string, row: Audit, question: Question): Promise<Judgement | null> {
    const { input, limitMs } = question;
    const judged = await readerJobs.run(reader, row.slug, input, limitMs, (done) => question.judge(done, reader));
    if (stop.signal.aborted) return null;
    if (judged !== null && !("problem" in judged)) return judged;
    const problem = judged?.problem ?? "it did not run the job";
    log.warn({ job_id: row.jobId, account_id: reader, problem }, "An owner's Islands did not audit an answer");
    silent.set(`${reader} ${row.slug}`, { reader, slug: row.slug, untilMs: clock.now() + NOT_ASKED_MS });
    return null;
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
    const kind = auditKindOf(cargo);
    if (kind === null) return refused(jobId, `answers of the Cargo "${row.slug}" are not audited`);
    const unjudgeable = unjudgeableOf(kind, traitsOf(await store.jobs.input(jobId), cargo, 0, accountId));
    if (unjudgeable !== null) return refused(jobId, unjudgeable);
    if (kind === "read") {
      return (await textOf(store.jobs, jobId)) === null
        ? refused(jobId, "it has no text that a single Island wrote")
        : null;
    }
    if (state !== "completed") return refused(jobId, "it has no result");
    const isSeeded = record.islandId !== null && readers.hasFeature(record.islandId, SEEDED_FEATURE);
    if (isSeeded || !needsSeed(cargo)) return null;
    return refused(jobId, "its Island is not connected, or its agent draws other random bytes in each run");
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
    const settled = await store.audits.settleHeld(nowMs - HELD_MS, nowMs).catch((error: unknown) => {
      log.error({ err: error }, "Could not settle held earnings");
      return 0;
    });
    if (stop.signal.aborted) return;
    const delayMs = settled < SETTLED_TOGETHER ? SETTLE_EVERY_MS : SETTLE_AGAIN_MS;
    settleTimer = clock.schedule(delayMs, () => void settleHeld());
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

function refused(jobId: string, reason: string): ServiceError {
  return new ServiceError("bad_request", `The job "${jobId}" cannot be audited: ${reason}`);
}
