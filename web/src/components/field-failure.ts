/** A validation error that the page finds itself, shown at the field of `path`. */
export class FieldFailure extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}
