/** A database that the operator must put right. The message names it and says why. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  /** The file, or the address without its password. */
  readonly path: string;
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path}: ${reason}`, options);
    this.path = path;
  }
}
