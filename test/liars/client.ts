import { ERROR_STATUS, JOB_ERROR_CODES } from "../../shared/errors.ts";
import type { Random } from "../support/random.ts";
import { readSse } from "../support/http/read-sse.ts";
import { auditJob, chargeOf } from "./audit.ts";
import type { History, JobRecord, Operation } from "./history.ts";
import { LIAR_WORDS } from "./lies.ts";
import { RESULT_SCHEMA, CHAT, encoded, jsonFor, MAX_TOKENS, UTILITY, wordsFor } from "./tasks.ts";

/** This is longer than the sum of a job's limits, which are the wait, the attempts and the runs. */
const MAX_JOB_MS = 150_000;
const MAX_SILENCE_MS = 10_000;
const POLL_MS = 150;
const ENDED = ["completed", "failed", "cancelled", "timeout"];
const CODES: readonly string[] = [...Object.keys(ERROR_STATUS), ...JOB_ERROR_CODES, "cancelled"];

export interface ClientOptions {
  readonly id: number;
  readonly url: string;
  readonly key: string;
  readonly random: Random;
  readonly history: History;
  /** Whether to submit new jobs. */
  readonly isOpen: () => boolean;
}

// oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
type Body = any;

/** An honest client that submits jobs of all kinds, one after the other, and checks each result. */
export class LiarsClient {
  readonly #options: ClientOptions;
  #count = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { random, isOpen } = this.#options;
    const operations = [
      () => this.#do("job", (record) => this.#job(record)),
      () => this.#do("job, waited for", (record) => this.#waited(record)),
      () => this.#do("chat", (record) => this.#chat(record, {})),
      () => this.#do("chat, streamed", (record) => this.#streamed(record, {})),
      () => this.#do("JSON", (record) => this.#chat(record, JSON_FORMAT)),
      () => this.#do("JSON, streamed", (record) => this.#streamed(record, JSON_FORMAT)),
      () => this.#do("utility", (record) => this.#utility(record)),
      () => this.#do("utility", (record) => this.#utility(record)),
      () => this.#do("cancel", (record) => this.#cancel(record)),
    ];
    while (isOpen()) {
      await random.pick(operations)();
      await pause(random.between(20, 200));
    }
  }

  async #do(operation: Operation, act: (record: JobRecord) => Promise<void>): Promise<void> {
    const { id, history } = this.#options;
    const prompt = `Seal ${id}-${(this.#count += 1)}`;
    const record = history.begin(operation, id, prompt, expectedOf(operation, prompt));
    const beganMs = performance.now();
    await act(record).catch((error: unknown) => record.faults.push(`the client failed: ${String(error)}`));
    await this.#audit(record);
    record.tookMs = performance.now() - beganMs;
    if (record.tookMs > MAX_JOB_MS) record.faults.push(`took ${Math.round(record.tookMs)} ms`);
    if (record.ending === null) record.faults.push("has no end");
    const { ending, text, expected, faults } = record;
    if (ending !== "done" || expected === null || text === expected || text === "") return;
    faults.push(`the text is ${JSON.stringify(text.slice(0, 200))}, not "${expected}"`);
  }

  async #audit(record: JobRecord): Promise<void> {
    const { jobId } = record;
    if (jobId === null || record.ending === null) return;
    const { history } = this.#options;
    const { status, body } = await this.#request("GET", `/jobs/${jobId}`);
    if (status !== 200) return void record.faults.push(`the job is gone: ${status}`);
    record.faults.push(...auditJob(record, body.data, history.readPrompts.has(jobId)));
    history.charges.set(jobId, chargeOf(body.data));
  }

  /** Runs a job. Disconnects from its stream at random and resumes. */
  async #job(record: JobRecord): Promise<void> {
    await this.#submit(record, CHAT, { prompt: record.prompt, max_tokens: MAX_TOKENS });
    await this.#follow(record);
  }

  async #waited(record: JobRecord): Promise<void> {
    await this.#submit(record, CHAT, { prompt: record.prompt, max_tokens: MAX_TOKENS });
    const job = await this.#untilEnded(record);
    if (record.ending === "done") record.text = String(job.output);
  }

  async #utility(record: JobRecord): Promise<void> {
    await this.#submit(record, UTILITY, { data: record.prompt });
    const job = await this.#untilEnded(record);
    if (record.ending === "done") record.text = JSON.stringify(job.output);
  }

  async #chat(record: JobRecord, more: object): Promise<void> {
    const { status, body } = await this.#request("POST", "/chat/completions", chatBody(record, more));
    if (status !== 200) return this.#noteError(record, status, body?.error);
    record.jobId = body.id;
    record.text = String(body.choices[0].message.content);
    record.ending = "done";
  }

  async #streamed(record: JobRecord, more: object): Promise<void> {
    const response = await this.#fetch("POST", "/chat/completions", chatBody(record, { ...more, stream: true }));
    if (response.status !== 200) return this.#noteError(record, response.status, (await this.#read(response)).error);
    for await (const { data } of readSse(response, MAX_SILENCE_MS)) {
      this.#look(record, data);
      if (record.ending !== null && data !== "[DONE]") record.faults.push("the stream went on after its end");
      if (data === "[DONE]") {
        record.ending ??= "done";
        continue;
      }
      const chunk: Body = JSON.parse(data);
      record.jobId ??= chunk.id ?? null;
      if (chunk.error !== undefined) this.#noteError(record, 500, chunk.error);
      else record.text += chunk.choices[0]?.delta?.content ?? "";
    }
  }

  async #cancel(record: JobRecord): Promise<void> {
    await this.#submit(record, CHAT, { prompt: record.prompt, max_tokens: MAX_TOKENS });
    await pause(this.#options.random.between(0, 600));
    const { status, body } = await this.#request("DELETE", `/jobs/${record.jobId}`);
    if (![200, 422].includes(status)) record.faults.push(`cancel got ${status}: ${JSON.stringify(body)}`);
    await this.#follow(record);
  }

  async #submit(record: JobRecord, workload: string, input: object): Promise<void> {
    const { status, body } = await this.#request("POST", "/jobs", { workload, input });
    if (status !== 201) throw new Error(`Submission got ${status}: ${JSON.stringify(body)}`);
    record.jobId = body.data.id;
  }

  /** Reads the job's stream to its end, over several connections. */
  async #follow(record: JobRecord): Promise<void> {
    const { random } = this.#options;
    const deadlineMs = performance.now() + MAX_JOB_MS;
    let lastId: string | null = null;
    while (record.ending === null && performance.now() < deadlineMs) {
      const cutAfter = random.chance(0.3) ? random.between(1, 12) : Infinity;
      const headers: Record<string, string> = lastId === null ? {} : { "last-event-id": lastId };
      const response = await this.#fetch("GET", `/jobs/${record.jobId}/stream`, undefined, headers);
      if (response.status !== 200) throw new Error(`Stream got ${response.status}`);
      let events = 0;
      for await (const { id, event, data } of readSse(response, MAX_SILENCE_MS)) {
        lastId = id;
        this.#take(record, event, data);
        if ((events += 1) >= cutAfter && record.ending === null) break;
      }
    }
  }

  #take(record: JobRecord, event: string, data: string): void {
    this.#look(record, data);
    if (record.ending !== null) record.faults.push(`${event} after the end`);
    const parsed: Body = JSON.parse(data);
    if (event === "token") record.text += parsed.content;
    if (event === "done") record.ending = "done";
    if (event === "error") this.#noteError(record, 500, parsed);
  }

  async #untilEnded(record: JobRecord): Promise<Body> {
    const deadlineMs = performance.now() + MAX_JOB_MS;
    while (performance.now() < deadlineMs) {
      const { body } = await this.#request("GET", `/jobs/${record.jobId}`);
      const job = body?.data;
      if (job?.status === "completed") record.ending = "done";
      else if (ENDED.includes(job?.status))
        this.#noteError(record, 500, job.error ?? { code: "cancelled", message: "" });
      if (record.ending !== null) return job;
      await pause(POLL_MS);
    }
    return null;
  }

  /** Checks that the error of a job has a documented code and a message. */
  #noteError(record: JobRecord, status: number, error: Body): void {
    record.ending = "error";
    record.errorCode = String(error?.job_error ?? error?.code);
    if (!CODES.includes(record.errorCode))
      record.faults.push(`${status} with an unknown error ${JSON.stringify(error)}`);
    if (typeof (error?.message ?? error?.error) !== "string") record.faults.push(`${record.errorCode} has no message`);
    if (error?.code === "internal" && error.job_error === undefined && error.request_id !== undefined) {
      record.faults.push(`the coordinator failed: ${JSON.stringify(error)}`);
    }
  }

  #look(record: JobRecord | null, text: string): void {
    if (!text.includes(LIAR_WORDS)) return;
    const { history } = this.#options;
    (record?.faults ?? history.violations).push(`an Island's words were read: ${text.slice(0, 300)}`);
  }

  async #request(method: string, path: string, body?: object): Promise<{ status: number; body: Body }> {
    const response = await this.#fetch(method, path, body);
    return { status: response.status, body: await this.#read(response) };
  }

  async #read(response: Response): Promise<Body> {
    const text = await response.text();
    this.#look(null, text);
    return JSON.parse(text);
  }

  #fetch(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    const { url, key } = this.#options;
    return fetch(`${url}/api/v1${path}`, {
      method,
      signal: AbortSignal.timeout(MAX_JOB_MS),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

const JSON_FORMAT = {
  response_format: { type: "json_schema", json_schema: { name: "seal", schema: RESULT_SCHEMA, strict: true } },
};

function expectedOf(operation: Operation, prompt: string): string | null {
  if (operation === "cancel") return null;
  if (operation === "utility") return JSON.stringify({ data: encoded(prompt) });
  return operation.startsWith("JSON") ? jsonFor(prompt) : wordsFor(prompt);
}

function chatBody({ prompt }: JobRecord, more: object): object {
  return { model: CHAT, messages: [{ role: "user", content: prompt }], max_tokens: MAX_TOKENS, ...more };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
