import type { Change, JobChange } from "../../../coordinator/events/change.ts";
import type { EventReader } from "../../../coordinator/events/event-reader.ts";
import type { ManualClock } from "../../support/manual-clock.ts";

export function makeJobChange(id: string, atMs: number, fields: Partial<JobChange> = {}): JobChange {
  const job = { type: "job", id, slug: "tiny-chat", state: "running", code: null, batchId: null } as const;
  return { ...job, createdAtMs: atMs, completedAtMs: null, atMs, ...fields };
}

export function makeIslandChange(id: string, clock: ManualClock): Change {
  return { type: "island", id, atMs: clock.now() };
}

/** What a reader reads: `reset`, or the id of each job or Island with its state. */
export function readAll(reader: EventReader): string[] {
  const read: string[] = [];
  while (reader.hasNext) {
    if (reader.isLost) {
      reader.skip();
      read.push("reset");
    } else read.push(...reader.take(100).map(({ change }) => textOf(change)));
  }
  return read;
}

function textOf(change: Change): string {
  if (change.type === "job") return `${change.id} ${change.state}`;
  return change.type === "island" ? change.id : change.type;
}
