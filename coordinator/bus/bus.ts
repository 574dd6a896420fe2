export class BusError extends Error {
  override readonly name = "BusError";
  /** `unreachable`: no responder, or the bus is down. `timeout`: no reply in time. `refused`: the handler failed. */
  readonly kind: "unreachable" | "timeout" | "refused";
  constructor(kind: BusError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Ends a subscription. May be called twice. */
export type Unsubscribe = () => void;

/**
 * A message bus between the coordinators of a network. A message is plain data, delivered at most once. Subjects are
 * words of [A-Za-z0-9_-] joined by dots; docs/internals/cluster-messages.md lists them.
 */
export interface Bus {
  /** Why other coordinators cannot be reached; null while the bus is up. */
  readonly downReason: string | null;
  onChange(listener: (downReason: string | null) => void): Unsubscribe;
  /** Delivers a message to all subscribers, including this coordinator. Drops it while the bus is down. */
  publish(subject: string, message: unknown): void;
  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe;
  /** Sends a request to the responder of the subject. @throws {BusError} */
  request(subject: string, message: unknown, timeoutMs: number): Promise<unknown>;
  /** Handles the requests of a subject. An error of `handler` rejects the request with its message. */
  handle(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe;
  /** Sends pending messages, then closes the bus. */
  close(): Promise<void>;
}
