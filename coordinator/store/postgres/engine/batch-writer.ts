import type { Clock } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { Lane } from "./lane.ts";
import {
  isKept,
  toColumns,
  type Operation,
  type OperationArgs,
  type OperationKind,
  type OperationResult,
} from "../operations/operations.ts";
import { writersTo } from "./writer-connection.ts";

/** Connections that write batches. Each commit waits for its own sync of the disk, so that a few share them well. */
const LANES = 3;

/**
 * Group commit. Every operation belongs to a lane by its job or account; a lane has a connection of its own and writes what has queued
 * as one statement in one commit, in call order. While nothing can be written, what has happened already is kept and tried again; what
 * a caller only asks for is refused.
 * @param server `ownerId`: the coordinator that writes.
 */
export function batchWriter(
  server: { readonly address: string; readonly ownerId: string },
  clock: Pick<Clock, "schedule">,
  onReadOnly: (because: string | null) => void,
) {
  let readOnlyBecause: string | null = null;
  const noteFault = (): void => {
    const because = lanes.find(({ fault }) => fault !== null)?.fault ?? null;
    if (because === readOnlyBecause) return;
    readOnlyBecause = because;
    onReadOnly(because);
  };
  const open = writersTo(server);
  const lanes = Array.from({ length: LANES }, (_, index) => new Lane(open, index, clock, noteFault));

  return {
    /** Transactions committed so far. */
    get commits(): number {
      return lanes.reduce((sum, { commits }) => sum + commits, 0);
    },

    /** Operations that are not committed yet. */
    get queued(): number {
      return lanes.reduce((sum, { queued }) => sum + queued, 0);
    },

    get readOnlyBecause(): string | null {
      return readOnlyBecause;
    },

    /** Resolves after the commit. `key`: the job or account whose order counts. Rejects with `storage_unavailable` unless it is kept. */
    run<K extends OperationKind>(key: string, kind: K, args: OperationArgs<K>): Promise<OperationResult<K>> {
      if (readOnlyBecause !== null && !isKept(kind)) {
        return Promise.reject(new ServiceError("storage_unavailable", `Nothing can be stored now: ${readOnlyBecause}`));
      }
      const lane = lanes[hashOf(key) % LANES] as Lane;
      return lane.add(toColumns([kind, args] as unknown as Operation)) as Promise<OperationResult<K>>;
    },

    /** Resolves when all operations are answered and the connections are closed. What cannot be written then is lost, as in a crash. */
    async close(): Promise<void> {
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}

/** FNV-1a. */
function hashOf(key: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01_00_01_93);
  return hash >>> 0;
}
