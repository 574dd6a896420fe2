import type { z } from "@hono/zod-openapi";
import type { AskedTerms } from "../../credits/trust.ts";
import { askedTermsOf } from "../../http/schemas/trust-fields.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { every } from "../../../shared/async/every.ts";
import { newId } from "../../../shared/ids.ts";
import { counter } from "../../../shared/metrics.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Env } from "../../env.ts";
import type { Files } from "../../files/open-files.ts";
import type { FileBatch, FileBatchProgress, FileBatchRequest } from "../../store/files/file-batches.ts";
import type { Store } from "../../store/store.ts";
import { assertStructure, validate } from "../../http/middleware/body.ts";
import { checkParameters } from "../../http/openai/parameters.ts";
import type { JobRunDeps, RequestContext } from "../../http/streaming/request-context.ts";
import { batchLease, type BatchLease, LEASE_MS } from "./batch-lease.ts";
import { type BatchJobs, earlierLineJobs, lineJobs } from "./line-jobs.ts";
import { runBatch } from "./run-batch.ts";
import type { CallEndpoint, LinesInFlight } from "./run-lines.ts";

const WINDOW_MS = 24 * 3_600_000;
const POLL_MS = 2_000;
const MAX_OPEN = 20;
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

export type Batches = ReturnType<typeof openBatches>;

/** Opens the service that runs batches over files. It owns the timer that polls for batches without a coordinator. */
export function openBatches(
  env: Env<"chatWaitMs">,
  store: Pick<Store, "accounts" | "fileBatches" | "files">,
  files: Files,
  jobs: BatchJobs,
  catalog: Catalog,
  endpoints: ReadonlyMap<string, LineEndpoint>,
) {
  const { clock, log } = env;
  const created = counter(
    "atoll_file_batches_total",
    "File batches: `created` on this coordinator, and ended on it by final state",
    ["state"],
    ["created", "completed", "failed", "expired", "cancelled"],
  );
  const lines = counter(
    "atoll_file_batch_lines_total",
    "Lines of file batches that ended on this coordinator: `completed` with status 200, otherwise `failed`",
    ["result"],
    ["completed", "failed"],
  );
  const ownerId = newId("coord", clock.now());
  const running = new Map<string, { readonly lease: BatchLease; readonly done: Promise<void> }>();
  const inFlight = new Map<string, LinesInFlight>();
  const stop = new AbortController();
  let loop: (() => Promise<void>) | null = null;

  function poll(): Promise<void> {
    loop ??= every({ clock, log, stop: stop.signal }, POLL_MS, "look for file batches", adopt);
    return loop();
  }

  async function adopt(): Promise<void> {
    if (running.size >= MAX_RUNNING) return;
    const nowMs = clock.now();
    // Usually no batch lacks a lease, and then nothing is written.
    if (!(await store.fileBatches.hasUnleased(nowMs))) return;
    const by = { ownerId, untilMs: nowMs + LEASE_MS };
    for (const batch of await store.fileBatches.lease(by, nowMs, MAX_RUNNING - running.size)) run(batch);
  }

  function run(batch: FileBatch): void {
    const { id, accountId } = batch;
    // The batch already runs here: its lease expired before it was renewed, and the renewal has not noticed yet.
    if (stop.signal.aborted || running.has(id)) return;
    const lease = batchLease(env, store, batch, ownerId, countEnd);
    const ofAccount = inFlight.get(accountId) ?? new Set();
    inFlight.set(accountId, ofAccount);
    const done = runBatch(env, files, endpointFor(lease), lease, ofAccount).finally(() => {
      running.delete(id);
      const others = [...running.values()].filter((other) => other.lease.batch.accountId === accountId);
      if (others.length === 0) inFlight.delete(accountId);
    });
    running.set(id, { lease, done });
  }

  function endpointFor(lease: BatchLease): CallEndpoint {
    const { id: batchId, request, createdAtMs: sinceMs } = lease.batch;
    const options = { chatWaitMs: env.config.chatWaitMs };
    return (line, isAborted, signal) => {
      const endpoint = endpoints.get(request.endpoint);
      if (endpoint === undefined) throw new Error(`Batches do not support the endpoint ${request.endpoint}`);
      const position = { batchId, line: line.number };
      const ofLine = isAborted
        ? earlierLineJobs(jobs, { ...position, sinceMs })
        : lineJobs(jobs, { ...position, isCancelled: () => lease.abortReason !== null });
      return endpoint({ catalog, options, log, jobs: ofLine }, { submitter: lease.submitter, signal }, line.body);
    };
  }

  function countEnd({ state, completed, failed }: FileBatchProgress): void {
    created.add([state]);
    lines.add(["completed"], completed);
    lines.add(["failed"], failed);
  }

  /** Returns the batch, with its current counts if this coordinator runs it. */
  function newest(batch: FileBatch): FileBatch {
    const progress = batch.endedAtMs === null ? running.get(batch.id)?.lease.progress : undefined;
    return progress === undefined ? batch : { ...batch, progress };
  }

  /** @throws {ServiceError} `not_found` */
  async function get(accountId: string, id: string): Promise<FileBatch> {
    const batch = await store.fileBatches.get(accountId, id);
    if (batch === undefined) throw new ServiceError("not_found", `There is no batch "${id}". GET /batches lists yours`);
    return newest(batch);
  }

  return {
    metrics: [created, lines],
    get runningCount() {
      return running.size;
    },
    get linesInFlight() {
      return [...inFlight.values()].reduce((sum, ofAccount) => sum + ofAccount.size, 0);
    },
    start: () => void poll(),
    get,
    /** Creates a batch. @throws {ValidationError} also if the account has {@link MAX_OPEN} unfinished batches */
    async create(accountId: string, request: FileBatchRequest): Promise<FileBatch> {
      if (!endpoints.has(request.endpoint))
        throw wrong("endpoint", `must be one of ${[...endpoints.keys()].join(", ")}`);
      const file = await files.get(accountId, request.inputFileId).catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === "not_found") throw wrong("input_file_id", error.message);
        throw error;
      });
      if (file.purpose !== "batch") throw wrong("input_file_id", `file purpose must be "batch", got "${file.purpose}"`);
      const createdAtMs = clock.now();
      const id = newId("batch", createdAtMs);
      const batch = { id, accountId, createdAtMs, expiresAtMs: createdAtMs + WINDOW_MS, request, progress: NEW };
      // The file is held before the batch is stored, so that the batch never lacks its file.
      const holds = [{ jobId: id, fileId: file.id }];
      const missing = await store.files.hold(accountId, holds, createdAtMs);
      if (missing.length > 0) throw wrong("input_file_id", `There is no file "${file.id}"`);
      if (!(await store.fileBatches.add(batch, MAX_OPEN))) {
        await store.files.unhold(holds);
        const facts = `The account already has ${MAX_OPEN} unfinished batches, the maximum`;
        throw wrong("input_file_id", `${facts}. Wait until a batch ends, or cancel one`);
      }
      created.add(["created"]);
      void poll();
      return { ...batch, cancellingAtMs: null, endedAtMs: null };
    },
    async list(accountId: string, page: { readonly afterId: string | null; readonly limit: number }) {
      return (await store.fileBatches.list(accountId, page)).map(newest);
    },
    /** Cancels a batch; no-op if it has ended or is being cancelled. @throws {ServiceError} `not_found` */
    async cancel(accountId: string, id: string): Promise<FileBatch> {
      await get(accountId, id);
      await store.fileBatches.cancel(accountId, id, clock.now());
      running.get(id)?.lease.abort("cancelled");
      return get(accountId, id);
    },
    async removeAll(accountId: string): Promise<void> {
      const ofAccount = [...running.values()].filter(({ lease }) => lease.batch.accountId === accountId);
      for (const { lease } of ofAccount) lease.stop();
      // Without this wait, a batch could store its results after all other files were removed.
      await Promise.all(ofAccount.map(({ done }) => done));
      await store.fileBatches.removeOfAccount(accountId);
    },
    /** Releases the batches to other coordinators. The jobs of their lines continue. */
    async close(): Promise<void> {
      stop.abort();
      for (const { lease } of running.values()) lease.stop();
      await poll();
      await Promise.all([...running.values()].map(({ done }) => done));
      await store.fileBatches.release(ownerId).catch(() => undefined);
    },
  };
}

function wrong(path: string, message: string): ValidationError {
  return new ValidationError([{ path, message }]);
}

/** Runs a request and returns the response body; null if the client has disconnected or the line is abandoned. */
type Run<Body> = (deps: JobRunDeps, client: RequestContext, body: Body) => Promise<object | null>;
export type LineEndpoint = Run<object>;

export function lineEndpoint<S extends z.ZodType<AskedTerms>>(schema: S, run: Run<z.output<S>>): LineEndpoint {
  return async (deps, client, given) => {
    assertStructure(given);
    if ("stream" in given && given.stream === true) {
      throw new ValidationError([{ path: "stream", message: "batches do not support streaming" }]);
    }
    const body = validate(schema, given);
    const ignoredParameters = checkParameters(schema, given, "openai");
    return run(deps, { ...client, submitter: { ...client.submitter, ...askedTermsOf(body), ignoredParameters } }, body);
  };
}
