import { CliError, JobFailure } from "../../../shared/errors.ts";

/** The model directory cannot be used; the message says why. */
export class ModelDirectoryError extends CliError {
  override readonly name = "ModelDirectoryError";
  readonly directory: string;

  constructor(directory: string, why: string, cause: unknown) {
    super(`Cannot use the model directory ${directory}: ${why}`, { cause });
    this.directory = directory;
  }

  /** The error for what the operating system refused; undefined for errors of another kind. */
  static of(directory: string, error: unknown): ModelDirectoryError | undefined {
    // Errors of the disk may come as job failures, with the error as their cause.
    const cause = (error instanceof JobFailure ? error.cause : error) as NodeJS.ErrnoException;
    if (!(cause instanceof Error) || typeof cause.errno !== "number") return undefined;
    return new ModelDirectoryError(directory, explain(cause), error);
  }
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EEXIST":
    case "ENOTDIR":
      return "it is a file";
    case "EACCES":
    case "EPERM":
      return "this user has no permission to read and write it";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    default:
      return message;
  }
}
