import { CliError, JobFailure } from "../../../shared/errors.ts";

/** Thrown when the model directory cannot be used. The message contains the reason. */
export class ModelDirectoryError extends CliError {
  override readonly name = "ModelDirectoryError";
  readonly directory: string;

  constructor(directory: string, why: string, cause: unknown) {
    super(`Cannot use the model directory ${directory}: ${why}`, { cause });
    this.directory = directory;
  }

  /** Returns the error for a refusal of the operating system; undefined for other errors. */
  static of(directory: string, error: unknown): ModelDirectoryError | undefined {
    // Disk errors may arrive as job failures, with the error as their cause.
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
