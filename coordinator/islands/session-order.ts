/**
 * Which session of an Island is the newest, where several coordinators may have one. Nobody knows it of a session without a number (null),
 * which storage did not give.
 */
export interface SessionOrder {
  /** The number of a session whose hello has just come. Never rejects. */
  next(hostId: string): Promise<number | null>;
  /** False if the Island has a newer session, here or elsewhere. */
  admits(hostId: string, number: number | null): boolean;
  /** The session has begun: older ones of the same account end. */
  begin(hostId: string, accountId: string, number: number | null): void;
}
