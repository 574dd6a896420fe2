/** A PostgreSQL database, which several coordinators may share. */
export interface DatabasePlace {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** 32 bytes that seal its secrets. */
  readonly key: Buffer;
}

export type StorePlace = string | DatabasePlace;
