/** Failure of a request to another coordinator. */
export class BusError extends Error {
  override readonly name = "BusError";
  /**
   * `unreachable`: the subject has no responder, or the bus is down. `timeout`: no reply in time. `refused`: the handler replied with an
   * error.
   */
  readonly kind: "unreachable" | "timeout" | "refused";
  constructor(kind: BusError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Ends a subscription. May be called twice. */
export type Unsubscribe = () => void;

/**
 * Message bus between the coordinators of a network. A message is plain data, delivered at most once. State that must not be lost goes to
 * storage. Subjects are words of [A-Za-z0-9_-] joined by dots. See docs/internals/cluster-messages.md for the list.
 */
export interface Bus {
  /** Reason why other coordinators cannot be reached; null while they can. */
  readonly downBecause: string | null;
  /** Calls `listener` when the bus goes down and comes back. */
  onChange(listener: (downBecause: string | null) => void): Unsubscribe;
  /** Delivers the message to all subscribers, including this coordinator. Dropped while the bus is down. */
  publish(subject: string, message: unknown): void;
  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe;
  /** Sends a request to the responder of the subject. @throws {BusError} */
  request(subject: string, message: unknown, timeoutMs: number): Promise<unknown>;
  /** Handles requests until the returned function is called. An error of `handler` rejects the request with its message. */
  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe;
  /** Sends pending messages, then closes. */
  close(): Promise<void>;
}
