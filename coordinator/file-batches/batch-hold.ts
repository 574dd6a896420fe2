import { ServiceError } from "../../shared/errors.ts";
import { every } from "../../shared/async/every.ts";
import type { Submitter } from "../accounts/identity.ts";
import { resolveLimits } from "../quotas/account-limits.ts";
import type { FileBatch, FileBatchProgress } from "../store/files/file-batches.ts";
import type { FileBatchDeps } from "./file-batch-deps.ts";

/** Whoever finds a lease that is over goes on with the batch. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 3_000;

/** Why lines are not answered any more. */
export type EarlyEnd = "cancelled" | "expired";

/** A batch that this coordinator has the lease of, which it renews, with its progress. */
export class BatchHold {
  readonly batch: FileBatch;
  readonly #deps: Pick<FileBatchDeps, "store" | "clock" | "log">;
  readonly #ownerId: string;
  readonly #stopped = new AbortController();
  readonly #renewing = new AbortController();
  /** Called at each renewal. */
  readonly #renewals = new Set<() => Promise<void>>();
  readonly #onEarlyEnd = new Set<() => void>();
  #progress: FileBatchProgress;
  #submitter: Submitter;
  #early: EarlyEnd | null;
  #untilMs: number;

  constructor(deps: Pick<FileBatchDeps, "store" | "clock" | "log">, batch: FileBatch, ownerId: string) {
    [this.#deps, this.batch, this.#ownerId] = [deps, batch, ownerId];
    this.#progress = batch.progress;
    this.#submitter = { accountId: batch.accountId, limits: resolveLimits(undefined), apiKey: batch.request.apiKey };
    this.#early = batch.cancellingAtMs === null ? null : "cancelled";
    this.#untilMs = deps.clock.now() + LEASE_MS;
  }

  /** Aborts when the lease is lost or the coordinator stops: all is left as it is for who comes next. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  get early(): EarlyEnd | null {
    return this.#early;
  }

  get progress(): FileBatchProgress {
    return this.#progress;
  }

  /** Who the jobs are of, with the limits of the last renewal. */
  get submitter(): Submitter {
    return this.#submitter;
  }

  /** `renewed` is called at each renewal, `earlyEnd` once, when lines are not to be answered any more. */
  watch(renewed: () => Promise<void>, earlyEnd: () => void): void {
    this.#renewals.add(renewed);
    this.#onEarlyEnd.add(earlyEnd);
  }

  /** Renews the lease from here on. */
  async start(): Promise<void> {
    await this.renew();
    const loop = { ...this.#deps, stop: this.#renewing.signal };
    every(loop, RENEW_EVERY_MS, "renew the lease of a batch", async () => {
      try {
        await this.renew();
      } catch (error) {
        // Others cannot take the batch before the lease is over.
        if (this.#deps.clock.now() >= this.#untilMs) this.stop();
        throw error;
      }
    });
  }

  stop(): void {
    this.#renewing.abort();
    this.#stopped.abort(new ServiceError("shutting_down", "Another coordinator goes on with the batch"));
  }

  endEarly(early: EarlyEnd): void {
    if (this.#early !== null) return;
    this.#early = early;
    for (const listener of this.#onEarlyEnd) listener();
  }

  /** Known to clients with the next renewal. */
  count(counts: Pick<FileBatchProgress, "completed" | "failed">): void {
    this.#progress = { ...this.#progress, ...counts };
  }

  /** Changes the progress, and renews the lease with it. @throws if it is lost */
  async save(changes: Partial<FileBatchProgress>): Promise<void> {
    this.#progress = { ...this.#progress, ...changes };
    await this.renew();
    this.#stopped.signal.throwIfAborted();
  }

  /** False when another coordinator has the batch. */
  end(changes: Partial<FileBatchProgress>): Promise<boolean> {
    this.#renewing.abort();
    const { store, clock } = this.#deps;
    const progress = { ...this.#progress, ...changes };
    return store.fileBatches.end({ id: this.batch.id, ownerId: this.#ownerId }, progress, clock.now());
  }

  async renew(): Promise<void> {
    const { store, clock } = this.#deps;
    const { id, expiresAtMs } = this.batch;
    const untilMs = clock.now() + LEASE_MS;
    const saved = await store.fileBatches.save({ id, ownerId: this.#ownerId, untilMs }, this.#progress);
    if (saved === undefined) {
      this.stop();
      return;
    }
    this.#untilMs = untilMs;
    const submitter = saved.cancellingAtMs === null ? await this.#findSubmitter() : null;
    if (submitter === null) this.endEarly("cancelled");
    else this.#submitter = submitter;
    if (clock.now() >= expiresAtMs) this.endEarly("expired");
    await Promise.all([...this.#renewals].map((renewed) => renewed()));
  }

  /** With the limits of now. Null for an account that is suspended or gone, and for an API key that is revoked or has expired. */
  async #findSubmitter(): Promise<Submitter | null> {
    const { store, clock } = this.#deps;
    const { accountId, request } = this.batch;
    const standing = await store.accounts.standing(accountId);
    if (standing === undefined || standing.suspendedBecause !== null) return null;
    const limits = resolveLimits(standing.limits);
    if (request.apiKey === null) return { accountId, limits, apiKey: null };
    const { number } = request.apiKey;
    const key = (await store.accounts.listKeys(accountId)).find((each) => each.number === number);
    if (key === undefined || (key.expiresAtMs !== null && key.expiresAtMs <= clock.now())) return null;
    return { accountId, limits, apiKey: { number, cargos: key.cargos, monthlyMicro: key.monthlyMicro } };
  }
}
