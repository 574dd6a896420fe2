import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../shared/clock.ts";
import type { StoredItem } from "../../disk/stored-item.ts";
import { diskFailure, partPath, removePart } from "../download/part-file.ts";
import type { IndexedModel } from "./model-index.ts";
import { stemOf, type IdlePart, type RecoveredStore } from "./store-recovery.ts";

/** Lease on a verified model. It is not deleted before `release`, which may be called more than once. */
export interface ModelLease {
  readonly path: string;
  readonly key: string;
  readonly bytes: number;
  release(): void;
}

export interface HeldModel extends Omit<IndexedModel, "lastUsedMs"> {
  lastUsedMs: number;
  leases: number;
}

/** Finished models and partial downloads in a store's directory, with their leases and time of last use. */
export class ModelFiles {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #models = new Map<string, HeldModel>();
  readonly #parts = new Map<string, IdlePart>();
  readonly #deletions = new Map<string, Promise<void>>();
  #lastUseMs: number;

  constructor(directory: string, clock: Clock, found: RecoveredStore) {
    this.#directory = directory;
    this.#clock = clock;
    for (const model of found.models) this.#models.set(model.key, { ...model, leases: 0 });
    for (const part of found.parts) this.#parts.set(part.key, part);
    this.#lastUseMs = Math.max(0, ...found.models.map(({ lastUsedMs }) => lastUsedMs));
  }

  get(key: string): HeldModel | undefined {
    return this.#models.get(key);
  }

  keys(): Iterable<string> {
    return this.#models.keys();
  }

  models(): StoredItem[] {
    return [...this.#models.values()].map(({ key, bytes, lastUsedMs, leases }) => {
      return { key, bytes, lastUsedMs, inUse: leases > 0 };
    });
  }

  parts(): readonly IdlePart[] {
    return [...this.#parts.values()];
  }

  indexed(): IndexedModel[] {
    return [...this.#models.values()].map(({ key, file, bytes, lastUsedMs }) => ({ key, file, bytes, lastUsedMs }));
  }

  /** Adds the finished model `file` of a download. */
  add(key: string, file: string, bytes: number): HeldModel {
    const model: HeldModel = { key, file, bytes, lastUsedMs: this.#nextUse(), leases: 0 };
    this.#parts.delete(key);
    this.#models.set(key, model);
    return model;
  }

  /** Records the part of an unfinished download on disk. */
  async recordPart(key: string): Promise<void> {
    const found = await stat(partPath(this.stemPath(key))).catch(() => null);
    if (found === null) this.#parts.delete(key);
    else this.#parts.set(key, { key, bytes: found.size, lastUsedMs: this.#nextUse() });
  }

  lease(model: HeldModel): ModelLease {
    model.leases += 1;
    model.lastUsedMs = this.#nextUse();
    let isHeld = true;
    const release = (): void => {
      if (isHeld) model.leases -= 1;
      isHeld = false;
    };
    return { path: join(this.#directory, model.file), key: model.key, bytes: model.bytes, release };
  }

  /** Compares only the length: the hash was checked before the file got its name. */
  async isIntact(model: HeldModel): Promise<boolean> {
    const found = await stat(join(this.#directory, model.file)).catch(() => null);
    return found?.size === model.bytes;
  }

  /** Removes the model and its part from the list, then deletes the files. @throws {JobFailure} on a disk error. */
  delete(key: string): Promise<void> {
    const model = this.#models.get(key);
    const hasPart = this.#parts.delete(key);
    this.#models.delete(key);
    const deletion = this.#deleteFiles(key, model, hasPart);
    this.#deletions.set(key, deletion);
    return deletion.finally(() => this.#deletions.delete(key));
  }

  /** Resolves when a running deletion of `key` has ended. @throws errors of `delete`. */
  async deleted(key: string): Promise<void> {
    await this.#deletions.get(key);
  }

  /** Returns the path of a key's files without extension. */
  stemPath(key: string): string {
    return join(this.#directory, stemOf(key));
  }

  async #deleteFiles(key: string, model: HeldModel | undefined, hasPart: boolean): Promise<void> {
    try {
      if (model !== undefined) await rm(join(this.#directory, model.file), { force: true });
    } catch (error) {
      throw diskFailure(error);
    }
    if (hasPart) await removePart(this.stemPath(key));
  }

  /** Returns a strictly increasing time, also within a millisecond and when the clock steps back. */
  #nextUse(): number {
    this.#lastUseMs = Math.max(this.#clock.now(), this.#lastUseMs + 1);
    return this.#lastUseMs;
  }
}
