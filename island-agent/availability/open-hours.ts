/**
 * A part of each day, in minutes after local midnight: `from` inclusive, `to` (1 to 1,440) exclusive. If it crosses
 * midnight, `to` is smaller.
 */
interface DayPart {
  readonly from: number;
  readonly to: number;
}

/** Hours of the day in which an Island works, in the host's local time. */
export type OpenHours = readonly DayPart[];

const MINUTES_PER_DAY = 1_440;
const PART = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/;

/**
 * Parses "22:00-07:00" or "00:00-06:30, 12:00-13:00".
 * @throws {RangeError} when a part is invalid.
 */
export function parseOpenHours(text: string): OpenHours {
  return text.split(",").map((part) => {
    const [, fromHour, fromMinute, toHour, toMinute] = PART.exec(part.trim()) ?? [];
    const from = Number(fromHour) * 60 + Number(fromMinute);
    const to = Number(toHour) * 60 + Number(toMinute);
    if (!(to <= MINUTES_PER_DAY) || from === to) {
      throw new RangeError(`"${part.trim()}" is not a time range such as 22:00-07:00`);
    }
    return { from, to };
  });
}

export function isOpenAt(hours: OpenHours, atMs: number): boolean {
  const minute = minuteOfDay(atMs);
  return hours.some(({ from, to }) => (from < to ? minute >= from && minute < to : minute >= from || minute < to));
}

/** Returns the minutes until a part next starts or ends: 1 to 1,440. */
export function minutesToNextChange(hours: OpenHours, atMs: number): number {
  const minute = minuteOfDay(atMs);
  const waits = hours
    .flatMap(({ from, to }) => [from, to])
    .map((at) => (at - minute + MINUTES_PER_DAY) % MINUTES_PER_DAY);
  return Math.min(...waits.map((wait) => (wait === 0 ? MINUTES_PER_DAY : wait)));
}

/** Returns the text that `parseOpenHours` reads, such as "22:00-07:00". */
export function describeOpenHours(hours: OpenHours): string {
  return hours.map(({ from, to }) => `${timeOf(from)}-${timeOf(to)}`).join(", ");
}

function timeOf(minute: number): string {
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`;
}

function minuteOfDay(atMs: number): number {
  const local = new Date(atMs);
  return local.getHours() * 60 + local.getMinutes();
}
