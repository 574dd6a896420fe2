/** Tells the sessions of Islands apart where several coordinators have them. */
export interface IslandSessions {
  /** The number of a session that has just begun: higher than those of all that began before, at any coordinator. */
  nextNumber(): Promise<number>;
}
