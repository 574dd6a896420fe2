import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../shared/clock.ts";
import { GIB } from "../../shared/format-bytes.ts";
import { isBuiltMeasured } from "./servers.ts";

/** Machine and time of a measurement, without host names or paths. */
export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly commit: string;
  /** Whether the coordinator ran from dist/. */
  readonly isBuilt: boolean;
  readonly date: string;
  /** Load average of the last minute before the bench began. */
  readonly load: number;
}

export function readMachineFacts(): MachineFacts {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / GIB),
    system: `${systemName()}, Linux ${release()}`,
    node: process.version,
    commit: commit(),
    isBuilt: isBuiltMeasured(),
    date: new Date(systemClock.now()).toISOString().slice(0, 10),
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
}

function systemName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "Linux";
  } catch {
    return "Linux";
  }
}

/** Returns the commit, with "+" if files of the product differ from it. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: join(import.meta.dirname, "..", ".."), encoding: "utf8" }).trim();
  try {
    const changed = git("status", "--porcelain", "--", "coordinator", "island-agent", "shared", "bin");
    return git("rev-parse", "--short=10", "HEAD") + (changed === "" ? "" : "+");
  } catch {
    return "unknown";
  }
}
