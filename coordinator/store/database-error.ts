/** A database fault that the operator must fix. The message names the database and the reason. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  /** File name, or database URL without its password. */
  readonly path: string;
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path}: ${reason}`, options);
    this.path = path;
  }
}
