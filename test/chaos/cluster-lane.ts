import type { Random } from "../support/random.ts";
import { call } from "../support/http/http.ts";
import { readSse } from "../support/http/read-sse.ts";
import { wordsPrompt, wordsText } from "../cluster/word-runtime.ts";

const WORD_MS = 100;
const RETRY_MS = 100;
const POLL_MS = 1_000;
const MAX_ANSWER_MS = 8_000;
/** A stream carries a comment each 2 s. */
const MAX_SILENCE_MS = 8_000;
/** A stream that had an event in this time flowed when it was cut. */
const FLOWING_MS = 1_000;

/** What all lanes saw. */
export class LaneHistory {
  readonly violations: string[] = [];
  jobs = 0;
  streams = 0;
  positionsLost = 0;
  /** Jobs by number of attempts. */
  readonly attempts: Record<number, number> = {};
  /** From the cut of a stream that flowed to its next event. */
  readonly resumedAfterMs: number[] = [];
}

export interface LaneOptions {
  readonly id: number;
  /** Another coordinator each time. */
  readonly nextUrl: () => string;
  readonly key: string;
  /** Whether the lane reads streams; else it asks for the job now and then. */
  readonly isReader: boolean;
  readonly random: Random;
  readonly isOpen: () => boolean;
  readonly deadline: AbortSignal;
  readonly history: LaneHistory;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Keeps one job under way, each request at another coordinator, and checks that each is done once and whole. */
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
    const answer = await ask(options, "POST", "/jobs", body, { "idempotency-key": idempotencyKey });
    if (answer?.status === 201) {
      ids.add(answer.body.data.id as string);
      // Now and then a client does not know that it was answered.
      if (options.random.chance(0.9)) break;
    } else if (answer !== null && answer.status < 500 && answer.status !== 429) {
      options.history.violations.push(`a submission was answered ${answer.status} ${JSON.stringify(answer.body)}`);
      return null;
    } else await wait(RETRY_MS);
  }
  if (ids.size > 1) options.history.violations.push(`one key made the jobs ${[...ids].join(", ")}`);
  return [...ids][0] ?? null;
}

/** Reads the stream to its end, over as many connections as it takes. */
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
      // The connection broke, or another one is tried.
    }
    if (endings.length > 0) break;
    const nowMs = performance.now();
    if (nowMs - lastEventMs < FLOWING_MS) cutAtMs ??= nowMs;
    await wait(RETRY_MS);
  }
  history.streams += 1;
  if (endings.join() !== "done") history.violations.push(`${jobId}: the stream ended with "${endings.join()}"`);
  if (text !== wordsText(words)) history.violations.push(`${jobId}: the stream is not whole: ${JSON.stringify(text)}`);
}

/** One that does not answer in time is left for another. */
async function openStream(
  { nextUrl, key, deadline }: LaneOptions,
  jobId: string,
  lastId: string | null,
): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), MAX_ANSWER_MS);
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
  let last = "nobody answered";
  for (;;) {
    if (deadline.aborted) return void history.violations.push(`${jobId}: the job has no end: ${last}`);
    const answer = await ask(options, "GET", `/jobs/${jobId}`);
    const job = answer?.status === 200 ? answer.body.data : null;
    if (answer?.status === 404) return void history.violations.push(`${jobId}: an acknowledged job is not known`);
    if (["completed", "failed", "cancelled", "timeout"].includes(job?.status)) {
      history.attempts[job.attempts] = (history.attempts[job.attempts] ?? 0) + 1;
      if (job.status === "completed" && job.output === wordsText(words)) return undefined;
      return void history.violations.push(`${jobId}: ${job.status}, ${JSON.stringify(job.error)}, ${job.output}`);
    }
    if (job !== null) last = JSON.stringify({ status: job.status, attempts: job.attempts, waiting: job.waiting });
    await wait(POLL_MS);
  }
}

/** Null where there is no answer. */
async function ask(
  { nextUrl, key, deadline }: LaneOptions,
  ...request: [method: string, path: string, body?: object, headers?: Record<string, string>]
): Promise<Awaited<ReturnType<typeof call>> | null> {
  const limit = new Promise<null>((resolve) => setTimeout(() => resolve(null), MAX_ANSWER_MS).unref());
  if (deadline.aborted) return null;
  return await Promise.race([call(nextUrl(), key, ...request).catch(() => null), limit]);
}
