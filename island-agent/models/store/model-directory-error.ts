import { CliError, JobFailure } from "../../../shared/errors.ts";

/** The model directory cannot be used as it is; the message says why. */
export class ModelDirectoryError extends CliError {
  override readonly name = "ModelDirectoryError";
  readonly directory: string;

  constructor(directory: string, why: string, cause: unknown) {
    super(`The model directory ${directory} cannot be used: ${why}`, { cause });
    this.directory = directory;
  }

  /** What the operating system refused, in words; undefined for errors of another kind. */
  static of(directory: string, error: unknown): ModelDirectoryError | undefined {
    // Failures of the disk are met as those of jobs, whose cause they carry.
    const cause = (error instanceof JobFailure ? error.cause : error) as NodeJS.ErrnoException;
    if (!(cause instanceof Error) || typeof cause.errno !== "number") return undefined;
    return new ModelDirectoryError(directory, explain(cause), error);
  }
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EEXIST":
    case "ENOTDIR":
      return "there is a file in its place";
    case "EACCES":
    case "EPERM":
      return "this user may not read and write there";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    default:
      return message;
  }
}
