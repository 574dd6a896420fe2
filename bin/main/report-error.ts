import { CliError, ServiceError, ValidationError } from "../../shared/errors.ts";
import { ConfigError } from "../../shared/settings.ts";

type ErrorClass = abstract new (...args: never[]) => Error;

/** Errors of both programs that the user can fix. Only their message is shown. */
const EXPECTED: readonly ErrorClass[] = [CliError, ConfigError, ServiceError];

/** Explains a path's error codes. Source: errno(3). */
const PATH_REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EEXIST: "is a file, not a directory",
  EISDIR: "is a directory, not a file",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "there is no such file or directory",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a part of this path is a file, not a directory",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
};

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  /** Missing when the system chooses the port. */
  readonly port?: number;
  readonly hostname?: string;
}

/**
 * Tells the user why a command failed. An unexpected error is a bug and is shown with its stack.
 * @param expected errors of this program that the user can fix.
 */
export function reportError(error: unknown, expected: readonly ErrorClass[] = []): void {
  const sentence = describeExpected(error, [...EXPECTED, ...expected]);
  if (sentence !== null) {
    console.error(sentence);
    return;
  }
  console.error(`This is a bug in Atoll, please report it: ${error instanceof Error ? error.message : String(error)}`);
  console.error(error);
}

/** The message of an expected error; null for any other. */
function describeExpected(error: unknown, expected: readonly ErrorClass[]): string | null {
  if (error instanceof ValidationError) {
    return error.details.map(({ path, message }) => [path, message].filter(Boolean).join(": ")).join("\n");
  }
  if (expected.some((type) => error instanceof type)) return (error as Error).message;
  return error instanceof Error ? describeSystemError(error) : null;
}

function describeSystemError({ code = "", syscall, path, address, port = 0, hostname }: SystemError): string | null {
  if (hostname !== undefined) return `${hostname}: the host name has no address (${code})`;
  if (syscall === "listen" && address !== undefined) return describeListenError(code, address, port);
  const reason = PATH_REASONS[code];
  return path === undefined || reason === undefined ? null : `${path}: ${reason}`;
}

function describeListenError(code: string, address: string, port: number): string | null {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${address} is in use by another program: choose another port`;
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "EINVAL":
      return `${address} is not an address of this machine: choose another host`;
    case "EACCES":
      return `Port ${port} of ${address} needs permissions that this user does not have: choose another port`;
    default:
      return null;
  }
}
