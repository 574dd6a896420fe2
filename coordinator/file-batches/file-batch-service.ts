import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { every } from "../../shared/async/every.ts";
import { newId } from "../../shared/ids.ts";
import { counter } from "../../shared/metrics.ts";
import type { FileBatch, FileBatchProgress, FileBatchRequest } from "../store/files/file-batches.ts";
import { BatchHold, LEASE_MS } from "./batch-hold.ts";
import type { FileBatchDeps } from "./file-batch-deps.ts";
import type { UnderWay } from "./line-pool.ts";
import { runBatch } from "./run-batch.ts";

const WINDOW_MS = 24 * 3_600_000;
const LOOK_EVERY_MS = 2_000;
/** Batches of an account that have not ended. */
const MAX_OPEN = 20;
/** Batches that this coordinator runs. */
const MAX_RUNNING = 50;
const NEW: FileBatchProgress = {
  state: "validating",
  total: 0,
  completed: 0,
  failed: 0,
  errors: [],
  outputFileId: null,
  errorFileId: null,
  inProgressAtMs: null,
  finalizingAtMs: null,
};

/** What the API builds on; see {@link FileBatchService}. */
export type FileBatchApi = Pick<FileBatchService, "create" | "get" | "list" | "cancel">;

/** Batches over files. It owns the timer that looks for those that nobody runs. */
export class FileBatchService {
  readonly #batches = counter(
    "atoll_file_batches_total",
    "Batches over files: created here, and ended here by their state",
    ["state"],
    ["created", "completed", "failed", "expired", "cancelled"],
  );
  readonly #lines = counter(
    "atoll_file_batch_lines_total",
    "Lines of batches that ended here: with an answer, or without one",
    ["result"],
    ["completed", "failed"],
  );
  readonly metrics = [this.#batches, this.#lines];
  readonly #deps: FileBatchDeps;
  readonly #ownerId: string;
  readonly #running = new Map<string, { readonly hold: BatchHold; readonly done: Promise<void> }>();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #stop = new AbortController();
  /** Begun by the first look. */
  #loop: (() => Promise<void>) | null = null;

  constructor(deps: Omit<FileBatchDeps, "countEnd">) {
    this.#deps = {
      ...deps,
      countEnd: ({ state, completed, failed }) => {
        this.#batches.add([state]);
        this.#lines.add(["completed"], completed);
        this.#lines.add(["failed"], failed);
      },
    };
    this.#ownerId = newId("coord", deps.clock.now());
  }

  /** Batches that this coordinator runs now. */
  get runningCount(): number {
    return this.#running.size;
  }

  /** Lines of these that wait for their jobs. */
  get linesUnderWay(): number {
    return [...this.#underWay.values()].reduce((sum, lines) => sum + lines.size, 0);
  }

  /** Runs what nobody runs, now and from now on. */
  start(): void {
    void this.#look();
  }

  /** Leaves its batches to others; their jobs go on. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const { hold } of this.#running.values()) hold.stop();
    await this.#look();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#deps.store.fileBatches.release(this.#ownerId).catch(() => undefined);
  }

  /** @throws {ValidationError} for an endpoint or a file that batches cannot have, and when the account has MAX_OPEN that have not ended. */
  async create(accountId: string, request: FileBatchRequest): Promise<FileBatch> {
    const { store, files, endpoints, clock } = this.#deps;
    if (!endpoints.paths.includes(request.endpoint))
      throw wrong("endpoint", `must be one of ${endpoints.paths.join(", ")}`);
    const file = await files.get(accountId, request.inputFileId).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === "not_found") throw wrong("input_file_id", error.message);
      throw error;
    });
    if (file.purpose !== "batch") throw wrong("input_file_id", 'is of a file with another purpose than "batch"');
    const createdAtMs = clock.now();
    const id = newId("batch", createdAtMs);
    const batch = { id, accountId, createdAtMs, expiresAtMs: createdAtMs + WINDOW_MS, request, progress: NEW };
    // Before the batch is there, so that it never lacks its file.
    const holds = [{ jobId: id, fileId: file.id }];
    const missing = await store.files.hold(accountId, holds, createdAtMs);
    if (missing.length > 0) throw wrong("input_file_id", `There is no file "${file.id}"`);
    if (!(await store.fileBatches.add(batch, MAX_OPEN))) {
      await store.files.unhold(holds);
      throw wrong("input_file_id", `The account has ${MAX_OPEN} batches that have not ended, as many as it may`);
    }
    this.#batches.add(["created"]);
    void this.#look();
    return { ...batch, cancellingAtMs: null, endedAtMs: null };
  }

  /** @throws {ServiceError} `not_found` */
  async get(accountId: string, id: string): Promise<FileBatch> {
    const batch = await this.#deps.store.fileBatches.get(accountId, id);
    if (batch === undefined) throw new ServiceError("not_found", `There is no batch "${id}"`);
    return this.#newest(batch);
  }

  async list(
    accountId: string,
    page: { readonly afterId: string | null; readonly limit: number },
  ): Promise<FileBatch[]> {
    return (await this.#deps.store.fileBatches.list(accountId, page)).map((batch) => this.#newest(batch));
  }

  /** Of one that has ended or is being cancelled, changes nothing. @throws {ServiceError} `not_found` */
  async cancel(accountId: string, id: string): Promise<FileBatch> {
    await this.get(accountId, id);
    await this.#deps.store.fileBatches.cancel(accountId, id, this.#deps.clock.now());
    this.#running.get(id)?.hold.endEarly("cancelled");
    return this.get(accountId, id);
  }

  /** Of a deleted account. May be called again. */
  async removeAll(accountId: string): Promise<void> {
    const running = [...this.#running.values()].filter(({ hold }) => hold.batch.accountId === accountId);
    for (const { hold } of running) hold.stop();
    // Else one that is at its end stores files after all others were removed.
    await Promise.all(running.map(({ done }) => done));
    await this.#deps.store.fileBatches.removeOfAccount(accountId);
  }

  /** With the counts of now, if this coordinator runs it. */
  #newest(batch: FileBatch): FileBatch {
    const progress = batch.endedAtMs === null ? this.#running.get(batch.id)?.hold.progress : undefined;
    return progress === undefined ? batch : { ...batch, progress };
  }

  #look(): Promise<void> {
    this.#loop ??= every({ ...this.#deps, stop: this.#stop.signal }, LOOK_EVERY_MS, "look for batches of files", () =>
      this.#take(),
    );
    return this.#loop();
  }

  async #take(): Promise<void> {
    if (this.#stop.signal.aborted || this.#running.size >= MAX_RUNNING) return;
    const { store, clock } = this.#deps;
    const nowMs = clock.now();
    // Mostly there is none, and nothing is written.
    if (!(await store.fileBatches.hasUnleased(nowMs))) return;
    const by = { ownerId: this.#ownerId, untilMs: nowMs + LEASE_MS };
    for (const batch of await store.fileBatches.lease(by, nowMs, MAX_RUNNING - this.#running.size)) this.#run(batch);
  }

  #run(batch: FileBatch): void {
    const { id, accountId } = batch;
    // Its lease was over before it was renewed, and it has not noticed yet.
    if (this.#stop.signal.aborted || this.#running.has(id)) return;
    const hold = new BatchHold(this.#deps, batch, this.#ownerId);
    const underWay = this.#underWay.get(accountId) ?? new Set();
    this.#underWay.set(accountId, underWay);
    const done = runBatch(this.#deps, hold, underWay).finally(() => {
      this.#running.delete(id);
      if ([...this.#running.values()].every((other) => other.hold.batch.accountId !== accountId)) {
        this.#underWay.delete(accountId);
      }
    });
    this.#running.set(id, { hold, done });
  }
}

function wrong(path: string, message: string): ValidationError {
  return new ValidationError([{ path, message }]);
}
