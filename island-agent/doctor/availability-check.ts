import type { Clock } from "../../shared/clock.ts";
import { Availability } from "../availability/availability.ts";
import { describeOpenHours, type OpenHours } from "../availability/open-hours.ts";
import { readPause } from "../availability/pause-file.ts";
import type { Examination } from "./examination.ts";

/** Whether an agent of this data directory would take new jobs now. @param hours null: day and night. */
export async function checkAvailability(
  dataDirectory: string,
  hours: OpenHours | null,
  clock: Clock,
): Promise<Examination["availability"]> {
  const isPaused = await readPause(dataDirectory);
  using availability = new Availability({ clock, hours, isPaused });
  const { closedBecause } = availability;
  return { isPaused, hours: hours === null ? null : describeOpenHours(hours), closedBecause };
}
