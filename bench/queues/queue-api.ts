/** Functions of each queue's worker process. All jobs have the same payload as the coordinator's. */
export type QueueApi = {
  /** Connects and creates the schema. `address`: port or connection string. */
  open(argument: { address: string }): Promise<void>;
  /** Adds jobs, `parallel` calls at a time, `perCall` jobs in each. @returns seconds. */
  add(argument: { count: number; parallel: number; perCall: number }): Promise<number>;
  /** Runs `count` waiting jobs to their durable end. @returns seconds. */
  work(argument: { count: number; parallel: number }): Promise<number>;
  /** Adds one job after the other to an idle queue. @returns milliseconds from the call to the job's start, for each. */
  idleStarts(argument: { count: number }): Promise<number[]>;
  close(argument: undefined): Promise<void>;
};

export const PAYLOAD = { workload: "tiny-chat", input: { prompt: "Go", max_tokens: 16 } };
export const RESULT = { text: " w0" };
