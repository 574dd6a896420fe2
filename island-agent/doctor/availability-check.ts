import type { Clock } from "../../shared/clock.ts";
import { Availability } from "../availability/availability.ts";
import { describeOpenHours, type OpenHours } from "../availability/open-hours.ts";
import { readPause } from "../availability/pause-file.ts";
import type { AgentStatus } from "../execution/island-reports.ts";
import type { UnusableRuntime } from "../runtimes/runtime-probes.ts";
import type { Examination } from "./examination.ts";

/** What the doctor asks of a running agent. */
export type RunningAgent = Pick<
  AgentStatus,
  "closedBecause" | "isPaused" | "hours" | "slots" | "running" | "memoryCaps"
> & {
  readonly unusable?: readonly UnusableRuntime[];
};

/**
 * Whether the agent of this data directory takes new jobs now, or would if it ran.
 * @param hours of the settings; null: day and night.
 * @param running what the running agent says, which counts; null: none runs.
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
