/** Something wrong that the page itself finds, at its field. */
export class FieldFailure extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}
