import { createHash } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../../shared/errors.ts";

/** Thrown when another process of this machine uses the directory. */
class DirectoryInUseError extends CliError {
  override readonly name = "DirectoryInUseError";
  readonly directory: string;
  constructor(directory: string) {
    super(`Another process uses ${directory}. Stop it first: one process at a time can use an Island's models`);
    this.directory = directory;
  }
}

export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Locks a directory against other processes. The lock is a listening socket, not a file: it ends with its process, even
 * after kill -9, and needs no process id, which another process could reuse.
 * @throws {DirectoryInUseError}
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const name = `atoll-${createHash("sha256")
    .update(await realpath(directory))
    .digest("hex")
    .slice(0, 32)}`;
  const path = socketPath(name);
  let server = await listen(path);
  if (server === null && isSocketFile(path) && !(await isListening(path))) {
    await rm(path, { force: true });
    server = await listen(path);
  }
  if (server === null) throw new DirectoryInUseError(directory);
  const held = server;
  return { release: () => new Promise((resolve) => held.close(() => resolve())) };
}

/** Returns the path of the socket. On Linux and Windows it ends with the process; elsewhere a crash leaves a file. */
function socketPath(name: string): string {
  if (process.platform === "linux") return `\0${name}`;
  return process.platform === "win32" ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

function isSocketFile(path: string): boolean {
  return !path.startsWith("\0") && !path.startsWith("\\\\");
}

function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      else reject(error);
    });
    server.listen({ path, exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
