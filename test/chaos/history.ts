/** What a client saw of one job. */
export interface ClientRecord {
  readonly operation: "job" | "chat" | "chat-stream" | "utility" | "cancel" | "vanish";
  /** Of the client, whose account owns the job. */
  readonly client: number;
  /** Set when a job was acknowledged. */
  jobId: string | null;
  /** The only right output; null where any is right. */
  readonly expected: string | null;
  /** Text of the stream, over all resumptions. */
  text: string;
  /** How the stream ended. Null: it was not followed to its end. */
  ending: "done" | "error" | null;
  /** Code of an error that the client was told. */
  errorCode: string | null;
  /** The coordinator told that a position was lost, and the client read again from the beginning. */
  positionsLost: number;
  resumptions: number;
  /** What must never happen. */
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
