import {
  type ErrorCode,
  type FieldError,
  RateLimitedError,
  ServiceError,
  ValidationError,
} from "../../shared/errors.ts";
import { mapInTurns } from "../../shared/async/own-turn.ts";
import { newId } from "../../shared/ids.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { MAX_FILES_OF_JOB, MAX_JOB_FILE_BYTES } from "../../shared/job-files.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { findModel } from "../catalog/find-model.ts";
import { charsOf, type NamedInput, InputText } from "../catalog/input-text.ts";
import type { Checks, GivenInput } from "../checks/checks.ts";
import { InsufficientCreditsError, KeyCreditsError } from "../credits/credit-errors.ts";
import { holdPostings } from "../credits/postings.ts";
import { priceJob } from "../credits/pricing.ts";
import { type AskedTerms, NO_TERMS, termsOf } from "../credits/trust.ts";
import type { Env } from "../env.ts";
import type { Files } from "../files/open-files.ts";
import { type ResolvedLimits, resolveLimits } from "../quotas/account-limits.ts";
import type { DailyStorage } from "../quotas/daily-storage.ts";
import type { FileHold, FileRecord } from "../store/files/files.ts";
import type { NewJob, SubmittedJob } from "../store/jobs/job-store.ts";
import { type SubmittingKey, type UsedKey, utcMonthOf } from "../store/accounts/key-spending.ts";
import type { Store } from "../store/store.ts";
import { newWebhook, type WebhookRequest } from "../webhooks/owned-webhook.ts";
import { hostResolver } from "../webhooks/resolve-host.ts";
import { imageFetcher } from "./fetch-images.ts";
import { type FileReference, fileReferencesOf } from "../catalog/file-references.ts";
import { jobSizeOf } from "./job-size.ts";

export interface SubmissionRequest extends AskedTerms {
  readonly accountId: string;
  /** Limits of the account, if they were read together with the caller; otherwise they are read here. */
  readonly limits?: ResolvedLimits;
  /** API key of the request; null or absent for a session. */
  readonly apiKey?: UsedKey | null | undefined;
  /** Slug or alias of the Cargo. */
  readonly slug: string;
  /** Paths of parameters that were ignored. Absent if none was ignored. */
  readonly ignoredParameters?: readonly string[];
  /** Priority of the jobs, 0 to 100. */
  readonly priority: number;
  readonly idempotency: NewJob["idempotency"];
  readonly webhook?: WebhookRequest | undefined;
  /** The account whose Islands read an answer: the job is an audit, and its input that of a job before. */
  readonly reader?: string;
}

/** A submission that passed every check except those of the commit: credits and Idempotency-Key. */
export type CheckedSubmission = Awaited<ReturnType<Submissions["check"]>>;

export type Submissions = ReturnType<typeof openSubmissions>;

/** Checks every submission, creates its records and tracks its commit. */
export function openSubmissions(
  { config, clock }: Env<"priorityPrice" | "webhookAllowPrivate">,
  store: Pick<Store, "accounts" | "files">,
  catalog: Catalog,
  dailyStorage: DailyStorage,
  checks: Pick<Checks, "inputs">,
  headOf: Files["head"],
  random: () => number,
) {
  /** Commits in flight, by the ids of their jobs and batches, which the registry does not have yet. */
  const fetchImages = imageFetcher(config.webhookAllowPrivate, hostResolver());
  const inFlight = new Map<string, Promise<unknown>>();

  async function checkInputs(
    accountId: string,
    cargo: CatalogEntry,
    inputs: readonly GivenInput[],
  ): Promise<readonly NamedInput[]> {
    const passed = checks.inputs(accountId, cargo, inputs);
    return fetchImages(accountId, passed instanceof Promise ? await passed : passed);
  }

  return {
    /**
     * Returns the result of `make`. For a repeated request, returns the result of the first request, even if conditions
     * have changed since.
     * @param find Returns the result of the first request with the same Idempotency-Key, if any.
     * @param make Checks the request, and writes only if `find` would still return undefined.
     */
    async firstOfKey<T>(find: () => Promise<T | undefined>, make: () => Promise<T>): Promise<T> {
      const first = await find();
      if (first !== undefined) return first;
      try {
        return await make();
      } catch (error) {
        // The first request may have committed since, and may hold the quota slot that this request was refused.
        const made = await find();
        if (made !== undefined) return made;
        throw error;
      }
    },
    /**
     * Checks a submission. Returns the facts that its commit needs.
     * @param inputs Each input with the field of the request that contains it.
     * @param maxWaitMs Time for which the client waits, which shortens the Cargo's wait limit. Undefined if no client
     * waits.
     * @throws {ServiceError} `cargo_not_found`, `cargo_not_allowed` for the API key, `validation_failed` naming the
     * errors of every input or the first image that cannot be downloaded; {@link RateLimitedError} at the account's daily
     * storage limit, or if its checks have used their time.
     */
    async check(request: SubmissionRequest, inputs: readonly GivenInput[], maxWaitMs?: number) {
      const { accountId, priority, apiKey = null, reader } = request;
      const cargo = (await findModel(catalog, request.slug, accountId)) ?? catalog.get(request.slug, accountId);
      const { slug, workloadId } = cargo;
      assertMayRun(apiKey, slug);
      const passed = reader === undefined ? await checkInputs(accountId, cargo, inputs) : inputs.map(asChecked);
      const createdAtMs = clock.now();
      const checked = await mapInTurns(passed, charsOf, async (each) => {
        const named = reader === undefined ? withSeed(cargo, each, random) : each;
        return { named, files: await checkJobFiles(store.files, accountId, cargo, named, createdAtMs) };
      });
      const bytes = checked.reduce((sum, { named }) => sum + named.inputJson.length, 0);
      const waitMs = reader === undefined ? dailyStorage.take(accountId, bytes) : 0;
      if (waitMs > 0) throw new RateLimitedError("daily_storage", Math.ceil(waitMs / 1_000));
      const webhook = newWebhook(request.webhook, { allowPrivate: config.webhookAllowPrivate, nowMs: createdAtMs });
      const limits = request.limits ?? resolveLimits(await store.accounts.limits(accountId));
      const priced = await mapInTurns(
        checked,
        ({ named }) => charsOf(named),
        async ({ named, files }) => {
          const size = await jobSizeOf(cargo, named, files, headOf);
          return { named, files, price: priceJob(cargo, size, priority, config.priorityPrice) };
        },
      );
      const heldMicros = priced.map(({ price }) => price.heldMicro);
      const common = {
        accountId,
        slug,
        workloadId,
        jobClass: maxWaitMs === undefined ? "batch" : "chat",
        share: limits.share,
        priority,
        createdAtMs,
        ignoredParameters: request.ignoredParameters?.length ? request.ignoredParameters : null,
        terms: reader === undefined ? termsOf(request, apiKey?.trust, cargo.minTrust) : { ...NO_TERMS, reader },
      } as const;
      const waitDeadlineMs = createdAtMs + Math.min(cargo.waitLimitMs, maxWaitMs ?? Infinity);
      let holds: FileHold[] = [];
      return {
        cargo,
        /** Maximum number of unfinished jobs of the account. */
        maxJobs: limits.concurrentJobs,
        common,
        webhook,
        apiKey:
          apiKey &&
          submittingKey(
            apiKey,
            createdAtMs,
            heldMicros.reduce((sum, micro) => sum + micro, 0),
          ),
        postings: holdPostings(accountId, heldMicros),
        /** Inputs of the jobs, in the form in which they are stored. */
        inputs: checked.map(({ named }) => named),
        /** Creates jobs with ascending ids, and holds their files. @throws {ValidationError} if a file is gone. */
        async newJobs(isClientBound = false): Promise<SubmittedJob[]> {
          const made = priced.map(({ named: { inputJson }, files, price: { heldMicro: priceMicro, rates } }) => {
            const id = newId("job", createdAtMs);
            return { job: { ...common, id, inputJson, priceMicro, rates, waitDeadlineMs, isClientBound }, files };
          });
          const jobs = made.map(({ job }) => job);
          holds = made.flatMap(({ job, files }) => files.map(({ id: fileId }) => ({ jobId: job.id, fileId })));
          const missing = holds.length === 0 ? [] : await store.files.hold(accountId, holds, clock.now());
          if (missing.length === 0) return jobs;
          const message = (id: string): string => `names "${id}", which was deleted`;
          throw new ValidationError(missing.map((id) => ({ path: "input", message: message(id) })));
        },
        /**
         * Calls `run`, which stores the new jobs. Releases their files if it throws a refusal. If the credits do not
         * suffice for a chat, the error says how to lower the hold.
         */
        async withFiles<T>(run: () => Promise<T>): Promise<T> {
          try {
            return await run();
          } catch (error) {
            const isRefused = error instanceof ServiceError && !MAYBE_STORED.has(error.code);
            // Jobs that may have been stored keep their files until their end; other holds expire.
            if (isRefused && holds.length > 0) await store.files.unhold(holds).catch(() => undefined);
            const isTooDear = error instanceof InsufficientCreditsError || error instanceof KeyCreditsError;
            throw isTooDear && cargo.isChat ? error.withAdvice(LOWER_TOKENS) : error;
          }
        },
      };
    },
    /** Runs a commit that creates jobs and adds them to the registry. Until its end, {@link settled} waits for it. */
    async commit<T>(ids: readonly string[], run: () => Promise<T>): Promise<T> {
      const done = run();
      for (const id of ids) inFlight.set(id, done);
      try {
        return await done;
      } finally {
        for (const id of ids) inFlight.delete(id);
      }
    },
    /** Resolves when the commit of this job or batch, if one is in flight, has succeeded or failed. */
    async settled(id: string): Promise<void> {
      await inFlight.get(id)?.catch(() => undefined);
    },
  };
}

/** Checks that the API key may run the Cargo. @throws {ServiceError} `cargo_not_allowed` */
function assertMayRun(apiKey: UsedKey | null, slug: string): void {
  const cargos = apiKey?.cargos ?? null;
  if (cargos === null || cargos.includes(slug)) return;
  throw new ServiceError(
    "cargo_not_allowed",
    `The API key may not run the Cargo "${slug}"; it may run: ${cargos.join(", ")}`,
  );
}

function submittingKey({ number, monthlyMicro }: UsedKey, atMs: number, neededMicro: number): SubmittingKey {
  if (monthlyMicro === null) return { number, monthly: null };
  return { number, monthly: { limitMicro: monthlyMicro, month: utcMonthOf(atMs), neededMicro } };
}

/** The input of an audit was checked with the job that it reads. */
function asChecked({ root, input }: GivenInput): NamedInput {
  return { input, inputJson: JSON.stringify(input), root };
}

/** Draws the seed of an image if the client gave none, so that an audit can repeat the job. */
function withSeed({ runtimeType }: CatalogEntry, named: NamedInput, random: () => number): NamedInput {
  if (runtimeType !== "diffusers") return named;
  const { input: given, root } = named;
  if (given["seed"] != null) return named;
  const input = { ...given, seed: Math.floor(random() * SEEDS) };
  const inputJson = JSON.stringify(input);
  return named instanceof InputText ? new InputText(root, inputJson) : { input, inputJson, root };
}

/** Number of seeds that are drawn. Cargos may allow more. */
const SEEDS = 2 ** 31;

const LOWER_TOKENS =
  "A chat holds the price of its prompt and of max_tokens, and releases what it does not use. Lower max_tokens to hold less";

/** Errors after which the jobs may still have been stored. */
const MAYBE_STORED: ReadonlySet<ErrorCode> = new Set([
  "cluster_unavailable",
  "internal",
  "shutting_down",
  "storage_unavailable",
]);

/**
 * Returns the files that an input names.
 * @param input Must match the Cargo's schema.
 * @param root The field of the request that contains the input. @throws {ValidationError} if the account may not use a
 * file.
 */
async function checkJobFiles(
  files: Store["files"],
  accountId: string,
  cargo: Pick<CatalogEntry, "isChat" | "inputSchema">,
  named: NamedInput,
  nowMs: number,
): Promise<FileRecord[]> {
  const { root } = named;
  const references = cargo.isChat ? [] : fileReferencesOf(cargo.inputSchema, named);
  if (references.length === 0) return [];
  if (references.length > MAX_FILES_OF_JOB)
    throw new ValidationError([
      { path: root, message: `names ${references.length} files; a job accepts at most ${MAX_FILES_OF_JOB}` },
    ]);
  const records = await Promise.all(references.map(({ fileId }) => files.get(accountId, fileId, nowMs)));
  const errors = references.flatMap((reference, i) => checkReference(reference, records[i], root));
  const bytes = records.reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0);
  if (errors.length === 0 && bytes > MAX_JOB_FILE_BYTES) {
    const size = formatBytes(bytes);
    const max = formatBytes(MAX_JOB_FILE_BYTES);
    errors.push({ path: root, message: `names files of ${size} in total; a job accepts at most ${max}` });
  }
  if (errors.length > 0) throw new ValidationError(errors);
  return [...new Map(records.flatMap((file) => (file === undefined ? [] : [[file.id, file]]))).values()];
}

function checkReference(reference: FileReference, file: FileRecord | undefined, root: string): FieldError[] {
  const path = [root, ...reference.path].join(".");
  const message = messageOf(reference, file);
  return message === null ? [] : [{ path, message }];
}

function messageOf({ minBytes, maxBytes }: FileReference, file: FileRecord | undefined): string | null {
  if (file === undefined) return "names no file of this account; upload it with POST /files";
  const { sizeBytes } = file;
  if (sizeBytes < minBytes) return `names a file of ${sizeBytes} bytes; this field needs at least ${minBytes}`;
  if (sizeBytes > maxBytes)
    return `names a file of ${formatBytes(sizeBytes)}; this field accepts at most ${formatBytes(maxBytes)}`;
  return null;
}
