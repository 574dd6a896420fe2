import type { Clock } from "../../shared/clock.ts";
import { Availability } from "../availability/availability.ts";
import { describeOpenHours, type OpenHours } from "../availability/open-hours.ts";
import { readPause } from "../availability/pause-file.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import type { UnusableRuntime } from "../runtimes/runtime-probes.ts";
import type { Examination } from "./examination.ts";

/** Part of a running agent's status that the doctor reads. */
export type RunningAgent = Pick<
  AgentStatus,
  "closedBecause" | "isPaused" | "hours" | "slots" | "running" | "memoryCaps" | "engines"
> & {
  readonly unusable?: readonly UnusableRuntime[];
};

/**
 * Checks whether the agent of this data directory accepts new jobs, or would if it ran.
 * @param hours of the settings; null for day and night.
 * @param running status of the running agent, which takes precedence; null if none runs.
 */
export async function checkAvailability(
  dataDirectory: string,
  hours: OpenHours | null,
  clock: Clock,
  running: RunningAgent | null,
): Promise<Examination["availability"]> {
  const isPaused = running?.isPaused ?? (await readPause(dataDirectory));
  const stated = hours === null ? null : describeOpenHours(hours);
  if (running !== null) {
    return {
      isPaused,
      hours: running.hours === undefined ? stated : running.hours,
      closedBecause: running.closedBecause,
    };
  }
  using availability = new Availability({ clock, hours, isPaused });
  const { closedBecause } = availability;
  return { isPaused, hours: stated, closedBecause };
}
