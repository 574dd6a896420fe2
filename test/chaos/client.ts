import { type ClientRecord, newRecord } from "./history.ts";
import type { Random } from "../support/random.ts";
import { readSse } from "../support/http/read-sse.ts";

/** Longer than the heartbeat of streams (2 s). */
const MAX_SILENCE_MS = 8_000;
const RETRY_MS = 150;
/** Time after which a request is retried. */
const MAX_RESPONSE_MS = 8_000;

export interface ClientOptions {
  readonly id: number;
  readonly url: () => string;
  readonly key: string;
  readonly random: Random;
  /** Whether to start new operations. */
  readonly isOpen: () => boolean;
  /** Aborts when unfinished work becomes a fault. */
  readonly deadline: AbortSignal;
  readonly record: (record: ClientRecord) => void;
}

interface ApiResponse {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
  readonly body: any;
}

/** A client that runs random operations one after the other, and follows each acknowledged job to its end. */
export class ChaosClient {
  readonly #options: ClientOptions;
  #submissions = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { random, isOpen } = this.#options;
    const operations = [
      () => this.#job(),
      () => this.#job(),
      () => this.#utility(),
      () => this.#chat(),
      () => this.#chatStream(),
      () => this.#cancel(),
      () => this.#vanish(),
    ];
    while (isOpen()) await random.pick(operations)();
  }

  /** Runs a job of a model. Disconnects from its stream at random and resumes. */
  async #job(): Promise<void> {
    const counted = this.#countingPrompt();
    const record = this.#begin("job", counted.expected);
    await this.#submit(record, "tiny-chat", { prompt: counted.prompt, temperature: 0 });
    await this.#follow(record);
  }

  async #utility(): Promise<void> {
    const text = `chaos ${this.#options.id} ${this.#submissions}`;
    const record = this.#begin("utility", null);
    await this.#submit(record, "base64", { data: text });
    const job = await this.#untilEnded(record);
    const encoded = Buffer.from(text).toString("base64");
    if (job?.status === "completed" && !JSON.stringify(job.output).includes(encoded)) {
      record.faults.push(`base64 of "${text}" is ${JSON.stringify(job.output)}`);
    }
  }

  async #chat(): Promise<void> {
    const { prompt, expected } = this.#countingPrompt();
    const record = this.#begin("chat", expected);
    const response = await this.#request("POST", "/chat/completions", chatBody(prompt)).catch(() => null);
    if (response === null) return;
    if (response.status !== 200) {
      record.errorCode = String(response.body?.error?.code);
      return;
    }
    record.jobId = response.body.id;
    record.text = response.body.choices[0].message.content;
    record.ending = "done";
  }

  /** Streams a chat. Its job is cancelled when the connection breaks, so a broken stream has no end. */
  async #chatStream(): Promise<void> {
    const { prompt, expected } = this.#countingPrompt();
    const record = this.#begin("chat-stream", expected);
    try {
      const response = await this.#fetch("POST", "/chat/completions", { ...chatBody(prompt), stream: true });
      if (response.status !== 200) return await response.body?.cancel();
      for await (const { data } of readSse(response, MAX_SILENCE_MS)) {
        if (record.ending !== null) record.faults.push("the stream continued after its end");
        if (data === "[DONE]") {
          record.ending = "done";
          continue;
        }
        const chunk = JSON.parse(data);
        record.jobId ??= chunk.id ?? null;
        if (chunk.error !== undefined) {
          record.ending = "error";
          record.errorCode = chunk.error.code;
        } else record.text += chunk.choices[0]?.delta?.content ?? "";
      }
    } catch {
      // The connection broke.
    }
  }

  async #cancel(): Promise<void> {
    const record = this.#begin("cancel", null);
    const input = { prompt: "Tell me a story.", temperature: 1.9, seed: this.#submissions, max_tokens: 900 };
    await this.#submit(record, "tiny-chat", input);
    await this.#pause(this.#options.random.between(0, 800));
    const response = await this.#retried("DELETE", `/jobs/${record.jobId}`);
    if (response !== null && ![200, 422].includes(response.status))
      record.faults.push(`cancel responded ${response.status}`);
    await this.#follow(record);
  }

  /** Starts a chat and disconnects at a random time. */
  async #vanish(): Promise<void> {
    const record = this.#begin("vanish", null);
    const { random } = this.#options;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), random.between(20, 600));
    const body = { ...chatBody("Tell me a story."), stream: true, temperature: 1.9, max_tokens: 900 };
    try {
      const response = await this.#fetch("POST", "/chat/completions", body, {}, abort.signal);
      for await (const { data } of readSse(response, MAX_SILENCE_MS)) {
        if (data !== "[DONE]") record.jobId ??= JSON.parse(data).id ?? null;
      }
    } catch {
      // The timer aborted the request, or the connection broke before that.
    } finally {
      clearTimeout(timer);
    }
  }

  /** Submits with one idempotency key until acknowledged, and sometimes once more. */
  async #submit(record: ClientRecord, workload: string, input: object): Promise<void> {
    const { id, random } = this.#options;
    const headers = { "idempotency-key": `client-${id}-${(this.#submissions += 1)}` };
    const body = { workload, input, priority: random.between(0, 100) };
    const submit = async (): Promise<void> => {
      const response = await this.#retried("POST", "/jobs", body, headers);
      if (response === null) return;
      if (response.status !== 201) return void record.faults.push(`submit responded ${JSON.stringify(response)}`);
      const jobId = response.body.data.id as string;
      if (record.jobId !== null && record.jobId !== jobId) record.faults.push(`a retry created another job, ${jobId}`);
      record.jobId = jobId;
    };
    await submit();
    if (random.chance(0.3)) await submit();
  }

  /** Reads the job's stream to its end, and reconnects as often as necessary. */
  async #follow(record: ClientRecord): Promise<void> {
    const { random, deadline } = this.#options;
    if (record.jobId === null) return;
    let lastId: string | null = null;
    while (record.ending === null && !deadline.aborted) {
      const cutAfter = random.chance(0.5) ? random.between(1, 12) : Infinity;
      try {
        const headers: Record<string, string> = lastId === null ? {} : { "last-event-id": lastId };
        const response = await this.#fetch("GET", `/jobs/${record.jobId}/stream`, undefined, headers);
        if (response.status === 422) {
          await response.body?.cancel();
          record.positionsLost += 1;
          record.text = "";
          lastId = null;
          continue;
        }
        if (response.status === 404) return void record.faults.push("an acknowledged job is not known");
        if (response.status !== 200) throw new Error(`${response.status}`);
        let events = 0;
        for await (const event of readSse(response, MAX_SILENCE_MS)) {
          lastId = event.id;
          this.#take(record, event);
          if ((events += 1) >= cutAfter && record.ending === null) break;
        }
      } catch {
        await this.#pause(RETRY_MS);
      }
      record.resumptions += 1;
    }
    if (record.ending === null) record.faults.push("the stream has no end");
  }

  #take(record: ClientRecord, { event, data }: { event: string; data: string }): void {
    if (record.ending !== null) record.faults.push(`${event} after the end`);
    const parsed = JSON.parse(data);
    if (event === "token") record.text += parsed.content;
    if (event === "done") record.ending = "done";
    if (event === "error") {
      record.ending = "error";
      record.errorCode = parsed.code;
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
  async #untilEnded(record: ClientRecord): Promise<any> {
    while (!this.#options.deadline.aborted) {
      const response = await this.#retried("GET", `/jobs/${record.jobId}`);
      const job = response?.body?.data;
      if (["completed", "failed", "cancelled", "timeout"].includes(job?.status)) return job;
      if (response?.status === 404) return void record.faults.push("an acknowledged job is not known");
      await this.#pause(RETRY_MS);
    }
    return record.faults.push("the job has no end");
  }

  /** Retries until the status is below 500 and not 429. Returns null after the deadline. */
  async #retried(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<ApiResponse | null> {
    while (!this.#options.deadline.aborted) {
      const response = await this.#request(method, path, body, headers).catch(() => null);
      if (response !== null && response.status < 500 && response.status !== 429) return response;
      await this.#pause(RETRY_MS);
    }
    return null;
  }

  async #request(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<ApiResponse> {
    const response = await this.#fetch(method, path, body, headers, AbortSignal.timeout(MAX_RESPONSE_MS));
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  #fetch(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    signal: AbortSignal = this.#options.deadline,
  ): Promise<Response> {
    const { url, key } = this.#options;
    return fetch(`${url()}/api/v1${path}`, {
      method,
      signal: AbortSignal.any([signal, this.#options.deadline]),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Returns a prompt, with the completion that the model generates for it at temperature 0. */
  #countingPrompt(): { prompt: string; expected: string } {
    const from = this.#options.random.between(1, 4);
    const to = from + this.#options.random.between(4, 5);
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    return { prompt: `Count from ${from} to ${to}.`, expected: `${numbers.join(", ")}.` };
  }

  #begin(operation: ClientRecord["operation"], expected: string | null): ClientRecord {
    const record = newRecord(operation, this.#options.id, expected);
    this.#options.record(record);
    return record;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function chatBody(prompt: string): object {
  return { model: "tiny-chat", messages: [{ role: "user", content: prompt }], temperature: 0 };
}
