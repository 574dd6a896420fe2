import type { AccountEvents } from "../../../coordinator/events/account-events.ts";
import { WaitingChanges, type Change, type JobChange } from "../../../coordinator/events/change.ts";

export function makeJobChange(id: string, atMs: number, fields: Partial<JobChange> = {}): JobChange {
  const job = { type: "job", id, slug: "tiny-chat", state: "running", code: null, batchId: null } as const;
  return { ...job, createdAtMs: atMs, completedAtMs: null, atMs, ...fields };
}

export function makeIslandChange(id: string): Change {
  return { type: "island", id };
}

/** A client that listens to an account's changes, and reads them on demand. */
export class TestReader {
  /** Number of calls of the listener. */
  calls = 0;
  readonly ready: Promise<void>;
  readonly close: () => void;
  readonly #waiting = new WaitingChanges();

  constructor(events: AccountEvents, accountId: string) {
    const { ready, close } = events.open(accountId, (changes) => {
      this.calls += 1;
      if (changes === null) this.#waiting.reset();
      for (const change of changes ?? []) this.#waiting.add(change);
    });
    this.ready = ready;
    this.close = close;
  }

  static async open(events: AccountEvents, accountId: string): Promise<TestReader> {
    const reader = new TestReader(events, accountId);
    await reader.ready;
    // Acts like a client that reads its lists now.
    reader.read();
    return reader;
  }

  /** Returns all waiting changes: `reset`, or the id of each job or Island with its state. */
  read(): string[] {
    const read: string[] = [];
    while (!this.#waiting.isEmpty) read.push(...(this.#waiting.take(100)?.map(textOf) ?? ["reset"]));
    return read;
  }
}

function textOf(change: Change): string {
  if (change.type === "job") return `${change.id} ${change.state}`;
  return change.type === "island" ? change.id : change.type;
}
