import type { CpuInfo } from "node:os";

type CpuTimes = Pick<CpuInfo, "times">;

/**
 * Returns the share of time that the cores were busy between two readings, 0 to 1; null when no time passed or the
 * number of cores changed.
 */
export function cpuLoadBetween(before: readonly CpuTimes[], after: readonly CpuTimes[]): number | null {
  if (before.length !== after.length) return null;
  const idleMs = sum(after, ({ idle }) => idle) - sum(before, ({ idle }) => idle);
  const totalMs = sum(after, allTimes) - sum(before, allTimes);
  if (totalMs <= 0) return null;
  return Math.min(1, Math.max(0, 1 - idleMs / totalMs));
}

function allTimes({ user, nice, sys, idle, irq }: CpuInfo["times"]): number {
  return user + nice + sys + idle + irq;
}

function sum(cpus: readonly CpuTimes[], pick: (times: CpuInfo["times"]) => number): number {
  return cpus.reduce((total, { times }) => total + pick(times), 0);
}
