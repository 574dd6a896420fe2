/** A PostgreSQL database, which several coordinators may share. */
export interface DatabaseLocation {
  /** Database URL: `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** Key of 32 bytes that encrypts the secrets of the database. */
  readonly key: Buffer;
}

/** Data directory of SQLite, or a PostgreSQL database. */
export type StoreLocation = string | DatabaseLocation;
