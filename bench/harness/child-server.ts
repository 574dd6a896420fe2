import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../shared/clock.ts";

/** Time limit to stop a server. */
const MAX_STOP_MS = 20_000;

/** Installs the missing packages of a folder from its lockfile, without install scripts. */
export async function installPackages(folder: string): Promise<void> {
  if (existsSync(join(folder, "node_modules", ".package-lock.json"))) return;
  await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
}

/** Stops a server with a signal, and kills it if it does not end in time. */
export async function endServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  const late = systemClock.schedule(MAX_STOP_MS, () => child.kill("SIGKILL"));
  await ended;
  late.cancel();
}
