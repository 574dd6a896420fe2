import { ServiceError } from "../../../shared/errors.ts";
import { every } from "../../../shared/async/every.ts";
import type { Submitter } from "../../accounts/identity.ts";
import type { Env } from "../../env.ts";
import { resolveLimits } from "../../quotas/account-limits.ts";
import type { FileBatch, FileBatchProgress } from "../../store/files/file-batches.ts";
import type { Store } from "../../store/store.ts";

/** Duration of a lease on a batch. Any coordinator that finds an expired lease adopts the batch. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 3_000;

export type AbortReason = "cancelled" | "expired";

export type BatchLease = ReturnType<typeof batchLease>;

/** Returns this coordinator's lease on a batch. `onEnd` is called when the batch has ended at this coordinator. */
export function batchLease(
  { clock, log }: Env,
  store: Pick<Store, "accounts" | "fileBatches">,
  batch: FileBatch,
  ownerId: string,
  onEnd: (progress: FileBatchProgress) => void,
) {
  const stopped = new AbortController();
  const renewing = new AbortController();
  const watchers = new Set<() => void>();
  const { id, accountId, request } = batch;
  let { progress } = batch;
  let submitter: Submitter = { accountId, limits: resolveLimits(undefined), apiKey: request.apiKey };
  let abortReason: AbortReason | null = batch.cancellingAtMs === null ? null : "cancelled";
  let untilMs = clock.now() + LEASE_MS;

  const notifyWatchers = (): void => {
    for (const watcher of watchers) watcher();
  };
  const stop = (): void => {
    renewing.abort();
    stopped.abort(new ServiceError("shutting_down", "Another coordinator continues the batch"));
    notifyWatchers();
  };
  const abort = (reason: AbortReason): void => {
    if (abortReason !== null) return;
    abortReason = reason;
    notifyWatchers();
  };
  const renew = async (): Promise<void> => {
    const newUntilMs = clock.now() + LEASE_MS;
    const saved = await store.fileBatches.save({ id, ownerId, untilMs: newUntilMs }, progress);
    if (saved === undefined) return stop();
    untilMs = newUntilMs;
    const found = saved.cancellingAtMs === null ? await findSubmitter(clock.now(), store, batch) : null;
    if (found === null) abort("cancelled");
    else submitter = found;
    if (clock.now() >= batch.expiresAtMs) abort("expired");
  };

  return {
    batch,
    /** Aborts when the lease is lost or the coordinator stops. The batch keeps its state for the next owner. */
    stopped: stopped.signal,
    /** Why the batch is aborted (cancelled or expired); null while it runs. */
    get abortReason() {
      return abortReason;
    },
    get progress() {
      return progress;
    },
    /** Account and key that submit the jobs, with the limits read at the last renewal. */
    get submitter() {
      return submitter;
    },
    stop,
    abort,
    /** Calls `watcher` when the batch is aborted and when the lease stops. */
    watch: (watcher: () => void) => void watchers.add(watcher),
    /** Renews the lease now and every {@link RENEW_EVERY_MS}. */
    async start(): Promise<void> {
      await renew();
      every({ clock, log, stop: renewing.signal }, RENEW_EVERY_MS, "renew the lease of a batch", async () => {
        try {
          await renew();
        } catch (error) {
          // Other coordinators cannot take the batch before the lease expires.
          if (clock.now() >= untilMs) stop();
          throw error;
        }
      });
    },
    /** Sets the counts of lines, which clients see after the next renewal. */
    count(counts: Pick<FileBatchProgress, "completed" | "failed">): void {
      progress = { ...progress, ...counts };
    },
    /** Changes the progress of the batch and renews the lease. @throws if the lease is lost */
    async save(changes: Partial<FileBatchProgress>): Promise<void> {
      progress = { ...progress, ...changes };
      await renew();
      stopped.signal.throwIfAborted();
    },
    /** Ends the batch. Returns false if another coordinator owns it. */
    async end(changes: Partial<FileBatchProgress>): Promise<boolean> {
      renewing.abort();
      const last = { ...progress, ...changes };
      const isEnded = await store.fileBatches.end({ id, ownerId }, last, clock.now());
      if (isEnded) onEnd(last);
      return isEnded;
    },
  };
}

/** Returns who submits the jobs; null if the account is suspended or deleted, or its API key is no longer valid. */
async function findSubmitter(
  nowMs: number,
  { accounts }: Pick<Store, "accounts">,
  { accountId, request }: FileBatch,
): Promise<Submitter | null> {
  const accountStatus = await accounts.accountStatus(accountId);
  if (accountStatus === undefined || accountStatus.suspensionReason !== null) return null;
  const limits = resolveLimits(accountStatus.limits);
  if (request.apiKey === null) return { accountId, limits, apiKey: null };
  const { number } = request.apiKey;
  const key = (await accounts.listKeys(accountId)).find((each) => each.number === number);
  if (key === undefined || (key.expiresAtMs !== null && key.expiresAtMs <= nowMs)) return null;
  return {
    accountId,
    limits,
    apiKey: { number, cargos: key.cargos, monthlyMicro: key.monthlyMicro, trust: key.trust },
  };
}
