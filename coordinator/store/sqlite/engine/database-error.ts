/** A database file that the operator must put right. The message names the file and says why. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  readonly path: string;
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path}: ${reason}`, options);
    this.path = path;
  }
}
