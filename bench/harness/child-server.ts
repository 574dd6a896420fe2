import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../shared/clock.ts";

/** Time limit to start and to stop a server. */
const LIMIT_MS = 20_000;

/** Installs the missing packages of a folder from its lockfile, without install scripts. */
export async function installPackages(folder: string): Promise<void> {
  if (existsSync(join(folder, "node_modules", ".package-lock.json"))) return;
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
}

/** Resolves when the port accepts connections. @throws if the program ends first. */
export async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}`);
    limit.throwIfAborted();
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await systemClock.sleep(50);
  }
}

/** Stops a server with a signal, and kills it if it does not end in time. */
export async function endServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  const late = systemClock.schedule(LIMIT_MS, () => child.kill("SIGKILL"));
  await ended;
  late.cancel();
}
