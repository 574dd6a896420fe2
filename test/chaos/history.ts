/** What a client observed about one job. */
export interface ClientRecord {
  readonly operation: "job" | "chat" | "chat-stream" | "utility" | "cancel" | "vanish";
  /** Number of the client whose account owns the job. */
  readonly client: number;
  /** Null until the job is acknowledged. */
  jobId: string | null;
  /** Expected output, or null if any output is correct. */
  readonly expected: string | null;
  /** Text received from the stream, over all resumptions. */
  text: string;
  /** Last event of the stream, or null if the stream was not read to its end. */
  ending: "done" | "error" | null;
  /** Code of the error that the client received. */
  errorCode: string | null;
  /** How often the coordinator did not know the client's position, so that the client restarted from the beginning. */
  positionsLost: number;
  resumptions: number;
  /** Violated guarantees. */
  readonly faults: string[];
}

export function newRecord(
  operation: ClientRecord["operation"],
  client: number,
  expected: string | null = null,
): ClientRecord {
  return {
    operation,
    client,
    jobId: null,
    expected,
    text: "",
    ending: null,
    errorCode: null,
    positionsLost: 0,
    resumptions: 0,
    faults: [],
  };
}
