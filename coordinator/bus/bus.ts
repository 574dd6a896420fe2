/** Why another coordinator did not answer. */
export class BusError extends Error {
  override readonly name = "BusError";
  /** `unreachable`: nobody listens, or the bus is down. `timeout`: it listens, and said nothing in time. `refused`: it answered with an error. */
  readonly kind: "unreachable" | "timeout" | "refused";
  constructor(kind: BusError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Ends a subscription. May be called twice. */
export type Unsubscribe = () => void;

/**
 * Messages between the coordinators of a network. A message is plain data and arrives at most once: what must not be lost is in
 * storage. Subjects: words of [A-Za-z0-9_-], joined by dots. docs/internals/cluster-messages.md lists them.
 */
export interface Bus {
  /** Why others cannot be reached now; null while they can. */
  readonly downBecause: string | null;
  /** Calls `listener` when the bus goes down and comes back. */
  onChange(listener: (downBecause: string | null) => void): Unsubscribe;
  /** Tells all who subscribed, this coordinator too. Lost while the bus is down. */
  publish(subject: string, message: unknown): void;
  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe;
  /** Asks the one who answers. @throws {BusError} */
  request(subject: string, message: unknown, timeoutMs: number): Promise<unknown>;
  /** Answers requests until the returned function is called. An error of `handler` refuses the request with its message. */
  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe;
  /** Sends what was published, then closes. */
  close(): Promise<void>;
}
