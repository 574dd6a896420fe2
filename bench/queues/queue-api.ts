/** The functions of each queue's worker process. All jobs have the payload of the coordinator's jobs. */
export type QueueApi = {
  /** Connects and creates the schema. `address` is a port or a connection string. */
  open(argument: { address: string }): Promise<void>;
  /** Adds jobs with `parallel` calls at a time and `perCall` jobs in each call. @returns seconds. */
  add(argument: { count: number; parallel: number; perCall: number }): Promise<number>;
  /** Runs `count` waiting jobs to their durable end. @returns seconds. */
  work(argument: { count: number; parallel: number }): Promise<number>;
  /**
   * Adds one job after the other to an idle queue.
   * @returns for each job, the milliseconds from the call to the start of the job.
   */
  idleStarts(argument: { count: number }): Promise<number[]>;
  close(argument: undefined): Promise<void>;
};

export const PAYLOAD = { workload: "tiny-chat", input: { prompt: "Go", max_tokens: 16 } };
export const RESULT = { text: " w0" };
