import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock, type Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { every } from "../../shared/every.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { newId } from "../../shared/ids.ts";
import type { Logger } from "../../shared/logger.ts";
import { counter } from "../../shared/metrics.ts";
import { assertFileFits } from "../store/file-budget.ts";
import type { FileBudget, FilePurpose, FileRecord } from "../store/file-store.ts";
import type { Store } from "../store/store.ts";
import { assertPending } from "../store/upload-guards.ts";
import type { RemovedUpload, UploadPart, UploadRecord } from "../store/upload-store.ts";
import { cleanFilename, type ArrivedFile } from "./arrived-file.ts";
import type { ArrivingRoom } from "./arriving-room.ts";
import type { FileContents } from "./file-contents.ts";
import { joinParts, partPaths } from "./join-parts.ts";

/** As with OpenAI. */
export const MAX_PART_BYTES = 64 * MIB;
export const MAX_PARTS = 1_000;
const MAX_PENDING = 100;
/** After its start or its last new part. */
const LIFE_MS = 3_600_000;
/** After its start, whatever comes. */
const MAX_LIFE_MS = 86_400_000;
const SWEEP_EVERY_MS = 300_000;
const STEP = 100;

/** Puts a complete file in its place; `commit` stores the facts about it. */
export type MakeFile = (
  accountId: string,
  arrived: ArrivedFile,
  commit: (file: FileRecord) => Promise<FileRecord>,
) => Promise<FileRecord>;

export interface UploadServiceDeps {
  readonly store: Pick<Store, "files" | "uploads">;
  readonly contents: FileContents;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "error">;
  readonly limits: { readonly maxFileBytes: number; readonly budget: FileBudget };
  readonly room: Pick<ArrivingRoom, "copy" | "receive">;
  /** Runs `take`, and counts its refusal. */
  readonly counted: <T>(take: () => Promise<T>) => Promise<T>;
  readonly makeFile: MakeFile;
}

export interface NewUpload {
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly sizeBytes: number;
  /** Of the file; null: as long as files are kept. */
  readonly fileLifeMs: number | null;
}

export interface UploadView extends Omit<UploadRecord, "state"> {
  readonly state: UploadRecord["state"] | "expired";
  /** None once it is not pending any more. */
  readonly parts: readonly UploadPart[];
  /** What it became; null if it is not completed, or the file is gone. */
  readonly file: FileRecord | null;
}

/** A part on disk, below the folder for what arrives. */
export type ArrivedPart = Pick<ArrivedFile, "path" | "sizeBytes" | "sha256">;

/** Files that come in parts, which survive a restart. It owns the timer that removes what expired. */
export class UploadService {
  readonly #uploads = counter(
    "atoll_uploads_total",
    "Uploads of files in parts, by what became of them",
    ["outcome"],
    ["started", "completed", "cancelled", "expired"],
  );
  readonly #parts = counter("atoll_upload_parts_total", "Parts that arrived: new, or repeated with the same content", [
    "kind",
  ]);
  readonly #bytes = counter("atoll_upload_bytes_total", "Bytes of new parts");
  readonly metrics = [this.#uploads, this.#parts, this.#bytes];
  readonly #deps: UploadServiceDeps;
  readonly #stop = new AbortController();
  /** Uploads whose file is being made here. */
  readonly #completing = new Map<string, Promise<unknown>>();
  #sweepNow: () => Promise<void> = () => Promise.resolve();

  constructor(deps: UploadServiceDeps) {
    this.#deps = deps;
  }

  /** Sweeps now, in the background, and some minutes after the end of each sweep. */
  start(): void {
    this.#sweepNow = every({ ...this.#deps, stop: this.#stop.signal }, SWEEP_EVERY_MS, "clean up uploads", () =>
      this.sweep(),
    );
    void this.#sweepNow();
  }

  /** Ends what is being joined: its parts stay. */
  async close(): Promise<void> {
    this.#stop.abort(new ServiceError("shutting_down", "The coordinator stops; complete the upload again"));
    await Promise.allSettled([this.#sweepNow(), ...this.#completing.values()]);
  }

  /** @throws {ServiceError} `payload_too_large`, `file_budget_exceeded` */
  create(accountId: string, upload: NewUpload): Promise<UploadView> {
    return this.#deps.counted(() => this.#create(accountId, upload));
  }

  async #create(accountId: string, { filename, purpose, sizeBytes, fileLifeMs }: NewUpload): Promise<UploadView> {
    const { store, clock, limits } = this.#deps;
    const maxBytes = Math.min(limits.maxFileBytes, MAX_PARTS * MAX_PART_BYTES);
    if (sizeBytes > maxBytes) throw new ServiceError("payload_too_large", `A file may have at most ${maxBytes} bytes`);
    assertFileFits(await store.files.usage(accountId), sizeBytes, limits.budget);
    const nowMs = clock.now();
    const id = newId("upload", nowMs);
    const upload: UploadRecord = {
      id,
      accountId,
      purpose,
      filename: cleanFilename(filename) || id,
      sizeBytes,
      fileLifeMs,
      state: "pending",
      fileId: null,
      partsHash: null,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + LIFE_MS,
    };
    await store.uploads.add(upload, MAX_PENDING);
    this.#uploads.add(["started"]);
    return { ...upload, parts: [], file: null };
  }

  /** @throws {ServiceError} `not_found`, also for another account's. */
  async get(accountId: string, id: string): Promise<UploadView> {
    const { store, clock } = this.#deps;
    const upload = await this.#find(accountId, id);
    const nowMs = clock.now();
    const { fileId } = upload;
    const file = fileId === null ? undefined : await store.files.get(accountId, fileId, nowMs);
    const parts = await store.uploads.parts(id);
    const isExpired = upload.state === "pending" && nowMs >= upload.expiresAtMs;
    return { ...upload, state: isExpired ? "expired" : upload.state, parts, file: file ?? null };
  }

  /**
   * Runs `receive`, which brings the part to disk, while there is room for it. An upload has each content once: who sends a part again gets
   * the part that is there.
   * @throws {ServiceError} `not_found`, `upload_not_pending`, `payload_too_large`, `too_many_parts`, `file_budget_exceeded`, `disk_full`
   */
  addPart(accountId: string, id: string, maxBytes: number, receive: () => Promise<ArrivedPart>): Promise<UploadPart> {
    return this.#deps.counted(() => this.#addPart(accountId, id, { maxBytes, receive }));
  }

  async #addPart(
    accountId: string,
    id: string,
    { maxBytes, receive }: { readonly maxBytes: number; readonly receive: () => Promise<ArrivedPart> },
  ): Promise<UploadPart> {
    const { store, contents, clock, limits, room } = this.#deps;
    const { createdAtMs } = await this.#pending(accountId, id);
    return room.receive(accountId, maxBytes, async () => {
      const { path, sizeBytes, sha256 } = await receive();
      const nowMs = clock.now();
      const part = { id: newId("part", nowMs), uploadId: id, sizeBytes, sha256, createdAtMs: nowMs };
      await contents.placePart(path, id, part.id);
      const expiresAtMs = Math.min(nowMs + LIFE_MS, createdAtMs + MAX_LIFE_MS);
      try {
        const stored = await store.uploads.addPart(part, { budget: limits.budget, maxParts: MAX_PARTS, expiresAtMs });
        const isNew = stored.id === part.id;
        this.#parts.add([isNew ? "new" : "repeated"]);
        if (isNew) this.#bytes.add([], sizeBytes);
        else await contents.removePart(id, part.id);
        return stored;
      } catch (error) {
        // After other errors it may be stored; else it goes with its upload.
        if (error instanceof ServiceError && error.code !== "storage_unavailable")
          await contents.removePart(id, part.id);
        throw error;
      }
    });
  }

  /**
   * Makes the file of the parts, in this order. A repeat gives the same file. Resolves when it is durable.
   * @param md5 Of the whole file, in hexadecimal; null: not checked.
   * @throws {ServiceError} `not_found`, `upload_not_pending`, `file_budget_exceeded`, `disk_full`. @throws {ValidationError} naming what is
   *   wrong with the parts.
   */
  async complete(accountId: string, id: string, partIds: readonly string[], md5: string | null): Promise<UploadView> {
    // A repeat while the first is under way waits for it, and then finds what it did.
    for (let first = this.#completing.get(id); first !== undefined; first = this.#completing.get(id))
      // oxlint-disable-next-line no-await-in-loop
      await first.catch(() => undefined);
    const completing = this.#deps.counted(() => this.#complete(accountId, id, partIds, md5));
    this.#completing.set(id, completing);
    try {
      await completing;
    } finally {
      this.#completing.delete(id);
    }
    return this.get(accountId, id);
  }

  async #complete(accountId: string, id: string, partIds: readonly string[], md5: string | null): Promise<void> {
    const { store, contents, clock, limits, room, makeFile } = this.#deps;
    const partsHash = createHash("sha256").update(partIds.join()).digest("hex");
    const found = await this.#find(accountId, id);
    if (found.state === "completed" && found.partsHash === partsHash) return;
    assertPending(found, clock.now());
    const { filename, purpose, sizeBytes, fileLifeMs: expiresAfterMs } = found;
    const paths = partPaths(contents, found, partIds, await store.uploads.parts(id));
    const path = join(contents.arriving, newId("upload", clock.now()));
    try {
      await room.copy(sizeBytes, async () => {
        const joined = await joinParts(paths, path, { hasMd5: md5 !== null, signal: this.#stop.signal });
        if (md5 !== null && joined.md5 !== md5.toLowerCase())
          throw new ValidationError([{ path: "md5", message: `is not that of the parts, which have ${joined.md5}` }]);
        const arrived = { path, filename, purpose, sizeBytes: joined.sizeBytes, sha256: joined.sha256, expiresAfterMs };
        await makeFile(accountId, arrived, (file) =>
          store.uploads.complete({ uploadId: id, partsHash, file, budget: limits.budget }, clock.now()),
        );
      });
    } catch (error) {
      await rm(path, { force: true });
      // Another coordinator was first.
      const now = await this.#find(accountId, id);
      if (now.state === "completed" && now.partsHash === partsHash) return;
      if (now.state !== "pending") assertPending(now, clock.now());
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const message = "The disk of this coordinator does not have all parts of the upload";
      throw new ServiceError("storage_unavailable", message, { cause: error });
    }
    this.#uploads.add(["completed"]);
    await contents.removeUpload(id);
  }

  /** Again is well. @throws {ServiceError} `not_found`; `upload_not_pending` for one that is completed. */
  async cancel(accountId: string, id: string): Promise<UploadView> {
    const { store, contents } = this.#deps;
    const { state } = await this.#find(accountId, id);
    if (await store.uploads.cancel(accountId, id)) {
      this.#uploads.add(["cancelled"]);
      await contents.removeUpload(id);
    } else if (state === "completed") {
      throw new ServiceError("upload_not_pending", "The upload is completed; delete its file");
    }
    return this.get(accountId, id);
  }

  /** All uploads of a deleted account. May be called again. */
  async removeAll(accountId: string): Promise<void> {
    const { uploads } = this.#deps.store;
    while ((await this.#removed(uploads.removeOfAccount(accountId, STEP))).length > 0);
  }

  /** Removes uploads that expired, and what crashes left on disk. Every coordinator may do so at once. */
  async sweep(): Promise<void> {
    const { store, contents, clock, log } = this.#deps;
    for (let done = STEP; done === STEP && !this.#stop.signal.aborted;) {
      // oxlint-disable-next-line no-await-in-loop
      const removed = await this.#removed(store.uploads.removeExpired(clock.now(), STEP));
      done = removed.length;
      const expired = removed.filter(({ state }) => state === "pending").length;
      if (expired === 0) continue;
      this.#uploads.add(["expired"], expired);
      log.info({ uploads: expired }, "Removed uploads that expired");
    }
    // By the clock of the disk, which has its own.
    const ids = await contents.settledUploads(systemClock.now());
    for (const id of await store.uploads.withoutParts(ids)) await contents.removeUpload(id);
  }

  async #removed(step: Promise<RemovedUpload[]>): Promise<RemovedUpload[]> {
    const removed = await step;
    for (const { id } of removed) await this.#deps.contents.removeUpload(id);
    return removed;
  }

  async #find(accountId: string, id: string): Promise<UploadRecord> {
    const upload = await this.#deps.store.uploads.get(accountId, id);
    if (upload === undefined) throw new ServiceError("not_found", `There is no upload "${id}"; it may have expired`);
    return upload;
  }

  async #pending(accountId: string, id: string): Promise<UploadRecord> {
    const upload = await this.#find(accountId, id);
    assertPending(upload, this.#deps.clock.now());
    return upload;
  }
}
