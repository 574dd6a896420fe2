import type { LieKind } from "./lies.ts";

export type Operation =
  | "job"
  | "job, waited for"
  | "chat"
  | "chat, streamed"
  | "JSON"
  | "JSON, streamed"
  | "utility"
  | "cancel";

/** What a client saw of one job. */
export interface JobRecord {
  readonly operation: Operation;
  readonly client: number;
  readonly prompt: string;
  /** The only right answer; null for a job that is cancelled. */
  readonly expected: string | null;
  jobId: string | null;
  /** What was streamed, or answered. */
  text: string;
  ending: "done" | "error" | null;
  errorCode: string | null;
  /** From the request to its end, in ms. */
  tookMs: number;
  /** What must never happen. */
  readonly faults: string[];
}

/** What happened in a run. */
export class History {
  readonly records: JobRecord[] = [];
  /** How often each lie was told. */
  readonly lies = new Map<string, number>();
  /** Jobs of which an Island claimed to have read a prompt. */
  readonly readPrompts = new Set<string>();
  /** Credits that were charged, by job. */
  readonly charges = new Map<string, number>();
  readonly violations: string[] = [];

  /** Jobs that are done. */
  get done(): number {
    return this.records.filter(({ ending }) => ending === "done").length;
  }

  begin(operation: Operation, client: number, prompt: string, expected: string | null): JobRecord {
    const record: JobRecord = {
      ...{ operation, client, prompt, expected, jobId: null, text: "", ending: null, errorCode: null },
      ...{ tookMs: 0, faults: [] },
    };
    this.records.push(record);
    return record;
  }

  noteLie({ kind, name }: { readonly kind: LieKind; readonly name: string }): void {
    const key = `${kind}: ${name}`;
    this.lies.set(key, (this.lies.get(key) ?? 0) + 1);
  }
}
