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

/** Record of a client about one job. */
export interface JobRecord {
  readonly operation: Operation;
  readonly client: number;
  readonly prompt: string;
  /** Expected result, or null for a cancelled job. */
  readonly expected: string | null;
  jobId: string | null;
  /** Streamed text, or the result. */
  text: string;
  ending: "done" | "error" | null;
  errorCode: string | null;
  /** Time from the request to the end of the job, in ms. */
  tookMs: number;
  /** Violations of guarantees. */
  readonly faults: string[];
}

export class History {
  readonly records: JobRecord[] = [];
  /** Number of times that each lie was sent. */
  readonly lies = new Map<string, number>();
  /** Jobs for which an Island claimed prompt tokens. */
  readonly readPrompts = new Set<string>();
  /** Charged credits by job. */
  readonly charges = new Map<string, number>();
  readonly violations: string[] = [];

  /** Completed jobs. */
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
