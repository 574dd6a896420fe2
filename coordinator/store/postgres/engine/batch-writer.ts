import { fnv1a } from "../../../../shared/net/fnv1a.ts";
import type { Clock } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { Lane } from "./lane.ts";
import { KEPT_WRITES } from "../../jobs/hot-writes.ts";
import { toColumns, type Operation, type Operations } from "../operations/operations.ts";
import { writersTo } from "./writer-connection.ts";

/**
 * Number of connections for writes. Each commit waits for a sync of the disk, so a few connections in parallel raise
 * throughput.
 */
const LANES = 3;

/**
 * Group commit. The job or account of an operation determines its lane. A lane has its own connection, on which it
 * writes its queue in call order, as one statement in one commit.
 * @param server `ownerId`: id of this coordinator.
 */
export function batchWriter(
  server: { readonly address: string; readonly ownerId: string },
  clock: Pick<Clock, "schedule">,
  onReadOnly: (reason: string | null) => void,
) {
  let readOnlyReason: string | null = null;
  const noteFault = (): void => {
    const reason = lanes.find(({ fault }) => fault !== null)?.fault ?? null;
    if (reason === readOnlyReason) return;
    readOnlyReason = reason;
    onReadOnly(reason);
  };
  const open = writersTo(server);
  const lanes = Array.from({ length: LANES }, (_, index) => new Lane(open, index, clock, noteFault));

  return {
    get commits(): number {
      return lanes.reduce((sum, { commits }) => sum + commits, 0);
    },

    get queued(): number {
      return lanes.reduce((sum, { queued }) => sum + queued, 0);
    },

    get readOnlyReason(): string | null {
      return readOnlyReason;
    },

    /** Writes an operation and resolves after its commit. `key`: job or account whose operations stay in order. */
    run<K extends keyof Operations>(
      key: string,
      kind: K,
      args: Parameters<Operations[K]>[0],
    ): Promise<ReturnType<Operations[K]>> {
      if (readOnlyReason !== null && !KEPT_WRITES.has(kind)) {
        return Promise.reject(new ServiceError("storage_unavailable", `Storage is unavailable: ${readOnlyReason}`));
      }
      const lane = lanes[fnv1a(key) % LANES] as Lane;
      return lane.add(toColumns([kind, args] as unknown as Operation)) as Promise<ReturnType<Operations[K]>>;
    },

    /** Writes what is queued and closes the lanes. Operations that cannot be written are lost, as in a crash. */
    async close(): Promise<void> {
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}
