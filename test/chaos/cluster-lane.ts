import type { Random } from "../support/random.ts";
import { call } from "../support/http/http.ts";
import { readSse } from "../support/http/read-sse.ts";
import { wordsPrompt, wordsText } from "../cluster/word-runtime.ts";

const WORD_MS = 100;
const RETRY_MS = 100;
const POLL_MS = 1_000;
const MAX_RESPONSE_MS = 8_000;
/** Longer than the heartbeat of streams (2 s). */
const MAX_SILENCE_MS = 8_000;
/** A stream counts as active if its last event is at most this old. */
const FLOWING_MS = 1_000;

/** What all lanes observed. */
export class LaneHistory {
  readonly violations: string[] = [];
  jobs = 0;
  streams = 0;
  positionsLost = 0;
  /** Number of jobs by their number of attempts. */
  readonly attempts: Record<number, number> = {};
  /** Times from the cut of an active stream to its next event. */
  readonly resumedAfterMs: number[] = [];
}

export interface LaneOptions {
  readonly id: number;
  /** Returns another coordinator at each call. */
  readonly nextUrl: () => string;
  readonly key: string;
  /** Whether the lane reads streams. Otherwise it polls the job. */
  readonly isReader: boolean;
  readonly random: Random;
  readonly isOpen: () => boolean;
  readonly deadline: AbortSignal;
  readonly history: LaneHistory;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Runs one job at a time, and sends each request to another coordinator. Checks that each job runs once and that its
 * output is complete.
 */
export async function runLane(options: LaneOptions): Promise<void> {
  const { id, isReader, random, isOpen, deadline, history } = options;
  for (let count = 0; isOpen() && !deadline.aborted; count += 1) {
    const words = random.between(50, 150);
    const jobId = await submit(options, words, `lane-${id}-${count}`);
    if (jobId === null) break;
    history.jobs += 1;
    if (isReader) await follow(options, jobId, words);
    await checkEnd(options, jobId, words);
  }
}

async function submit(options: LaneOptions, words: number, idempotencyKey: string): Promise<string | null> {
  const body = { workload: "tiny-chat", input: { prompt: wordsPrompt(words, WORD_MS) } };
  const ids = new Set<string>();
  while (!options.deadline.aborted) {
    const response = await tryCall(options, "POST", "/jobs", body, { "idempotency-key": idempotencyKey });
    if (response?.status === 201) {
      ids.add(response.body.data.id as string);
      // Simulates a client that sometimes loses the response.
      if (options.random.chance(0.9)) break;
    } else if (response !== null && response.status < 500 && response.status !== 429) {
      options.history.violations.push(`a submission got ${response.status} ${JSON.stringify(response.body)}`);
      return null;
    } else await wait(RETRY_MS);
  }
  if (ids.size > 1) options.history.violations.push(`one idempotency key created the jobs ${[...ids].join(", ")}`);
  return [...ids][0] ?? null;
}

/** Reads the stream to its end, and reconnects as often as necessary. */
async function follow(options: LaneOptions, jobId: string, words: number): Promise<void> {
  const { history, deadline } = options;
  const endings: string[] = [];
  let text = "";
  let lastId: string | null = null;
  let lastEventMs = -Infinity;
  let cutAtMs: number | null = null;
  while (endings.length === 0 && !deadline.aborted) {
    try {
      const response = await openStream(options, jobId, lastId);
      if (response.status === 422) {
        history.positionsLost += 1;
        [text, lastId] = ["", null];
      }
      if (response.status === 404) return void history.violations.push(`${jobId}: an acknowledged job is not known`);
      if (response.status !== 200) throw new Error(String(response.status));
      for await (const { id, event, data } of readSse(response, MAX_SILENCE_MS)) {
        lastId = id;
        lastEventMs = performance.now();
        if (cutAtMs !== null) history.resumedAfterMs.push(lastEventMs - cutAtMs);
        cutAtMs = null;
        if (event === "token") text += JSON.parse(data).content;
        else if (event === "done" || event === "error") endings.push(event);
      }
    } catch {
      // The connection broke or timed out, so the lane tries another coordinator.
    }
    if (endings.length > 0) break;
    const nowMs = performance.now();
    if (nowMs - lastEventMs < FLOWING_MS) cutAtMs ??= nowMs;
    await wait(RETRY_MS);
  }
  history.streams += 1;
  if (endings.join() !== "done") history.violations.push(`${jobId}: the stream ended with "${endings.join()}"`);
  if (text !== wordsText(words)) history.violations.push(`${jobId}: the stream is incomplete: ${JSON.stringify(text)}`);
}

/** Opens the stream. Aborts if the coordinator does not respond in time. */
async function openStream(
  { nextUrl, key, deadline }: LaneOptions,
  jobId: string,
  lastId: string | null,
): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), MAX_RESPONSE_MS);
  try {
    return await fetch(`${nextUrl()}/api/v1/jobs/${jobId}/stream`, {
      headers: { authorization: `Bearer ${key}`, ...(lastId === null ? {} : { "last-event-id": lastId }) },
      signal: AbortSignal.any([deadline, late.signal]),
    });
  } finally {
    clearTimeout(timer);
  }
}

async function checkEnd(options: LaneOptions, jobId: string, words: number): Promise<void> {
  const { history, deadline } = options;
  let last = "no response";
  for (;;) {
    if (deadline.aborted) return void history.violations.push(`${jobId}: the job has no end: ${last}`);
    const response = await tryCall(options, "GET", `/jobs/${jobId}`);
    const job = response?.status === 200 ? response.body.data : null;
    if (response?.status === 404) return void history.violations.push(`${jobId}: an acknowledged job is not known`);
    if (["completed", "failed", "cancelled", "timeout"].includes(job?.status)) {
      history.attempts[job.attempts] = (history.attempts[job.attempts] ?? 0) + 1;
      if (job.status === "completed" && job.output === wordsText(words)) return undefined;
      return void history.violations.push(`${jobId}: ${job.status}, ${JSON.stringify(job.error)}, ${job.output}`);
    }
    if (job !== null) last = JSON.stringify({ status: job.status, attempts: job.attempts, waiting: job.waiting });
    await wait(POLL_MS);
  }
}

/** Calls the API. Returns null if no response arrives in time. */
async function tryCall(
  { nextUrl, key, deadline }: LaneOptions,
  ...request: [method: string, path: string, body?: object, headers?: Record<string, string>]
): Promise<Awaited<ReturnType<typeof call>> | null> {
  const limit = new Promise<null>((resolve) => setTimeout(() => resolve(null), MAX_RESPONSE_MS).unref());
  if (deadline.aborted) return null;
  return await Promise.race([call(nextUrl(), key, ...request).catch(() => null), limit]);
}
