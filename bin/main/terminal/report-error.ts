import { inspect } from "node:util";
import { CommanderError } from "commander";
import { CliError, ServiceError, ValidationError } from "../../../shared/errors.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { plainLines } from "../../../shared/cli/plain-text.ts";
import { printJson } from "./print.ts";
import { UsageError } from "./usage-errors.ts";

type ErrorClass = abstract new (...args: never[]) => Error;

/** Errors of both programs that the user can fix. Only their messages are shown. */
const EXPECTED: readonly ErrorClass[] = [CliError, ConfigError, ServiceError];

/** Explains a path's error codes. Source: errno(3). */
const PATH_REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied. Check its owner and mode, and the user that runs this command",
  EEXIST: "must be a directory, but it is a file. Give another path",
  EISDIR: "must be a file, but it is a directory. Give the path of a file",
  ENAMETOOLONG: "the name is too long. Give a shorter path",
  ENOENT: "no such file or directory. Check the path",
  ENOSPC: "no space left on the disk. Free space or give a path on another disk",
  ENOTDIR: "a parent of this path must be a directory, but it is a file. Check the path",
  EPERM: "operation not permitted. Check its owner and mode, and the user that runs this command",
  EROFS: "the file system is read-only. Give a path on a writable file system",
};

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  /** Missing if the system chooses the port. */
  readonly port?: number;
  readonly hostname?: string;
}

/** Exit codes of all commands; docs/operate/troubleshooting.md and docs/host/troubleshooting.md list them. */
const EXIT_FAILED = 1;
const USAGE_ERROR = 2;

interface ReportOptions {
  /** Errors of this program that the user can fix. */
  readonly expected?: readonly ErrorClass[];
  /** Whether the command prints JSON, including errors. */
  readonly asJson?: boolean;
}

/**
 * Prints why a command failed. An unexpected error is a bug and is printed with its stack.
 * @returns the exit code.
 */
export function reportError(error: unknown, { expected = [], asJson = false }: ReportOptions = {}): number {
  if (error instanceof CommanderError) {
    // Commander has printed the message. It also throws after --help and --version.
    if (error.exitCode === 0) return 0;
    if (asJson) printJson({ error: { code: "usage", message: error.message.replace(/^error: /, "") } });
    return USAGE_ERROR;
  }
  const sentence = describeExpected(error, [...EXPECTED, ...expected]);
  const message = sentence ?? (error instanceof Error ? error.message : String(error));
  if (asJson) printJson({ error: { code: codeOf(error, sentence !== null), message } });
  if (sentence !== null) console.error(plainLines(sentence));
  else console.error(plainLines(`Unexpected error, please report this bug in Atoll: ${message}\n${inspect(error)}`));
  return error instanceof UsageError ? USAGE_ERROR : EXIT_FAILED;
}

/** Returns the code for scripts: the code that the API uses, or the kind of error. */
function codeOf(error: unknown, isExpected: boolean): string {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof UsageError) return "usage";
  return isExpected ? "failed" : "internal";
}

/** Returns the message of an expected error; null for any other error. */
function describeExpected(error: unknown, expected: readonly ErrorClass[]): string | null {
  if (error instanceof ValidationError) {
    return error.details.map(({ path, message }) => [path, message].filter(Boolean).join(": ")).join("\n");
  }
  if (expected.some((type) => error instanceof type)) return (error as Error).message;
  return error instanceof Error ? describeSystemError(error) : null;
}

function describeSystemError({ code = "", syscall, path, address, port = 0, hostname }: SystemError): string | null {
  if (hostname !== undefined)
    return `${hostname}: the host name cannot be resolved (${code}). Check its spelling and this machine's DNS`;
  if (syscall === "listen" && address !== undefined) return describeListenError(code, address, port);
  const reason = PATH_REASONS[code];
  return path === undefined || reason === undefined ? null : `${path}: ${reason}`;
}

function describeListenError(code: string, address: string, port: number): string | null {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${address} is in use by another program. Stop that program or set another port`;
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "EINVAL":
      return `${address} is not an address of this machine. Set host to an address of this machine`;
    case "EACCES":
      return `This user may not listen on port ${port} of ${address}. Set a port from 1024 to 65535`;
    default:
      return null;
  }
}
