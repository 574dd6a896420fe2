/** A PostgreSQL database, which several coordinators may share. */
export interface DatabaseLocation {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** 32 bytes that seal its secrets. */
  readonly key: Buffer;
}

export type StoreLocation = string | DatabaseLocation;
