import { signal } from "@preact/signals";
import { networkNow } from "../app/clock.ts";
import { formatDuration } from "./numbers.ts";

const TICK_MS = 5_000;
const now = signal(networkNow());
setInterval(() => {
  if (!document.hidden) now.value = networkNow();
}, TICK_MS);

const FULL_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

const UTC_DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** Formats a time of a chart: a UTC day for bars, a time of the day for lines. */
export function formatChartTime(atS: number, kind: "lines" | "bars"): string {
  return (kind === "bars" ? UTC_DAY : TIME).format(atS * 1_000);
}

/** Shows how long ago a time was: "just now", "4 min ago", "3 Nov". Its title is the full time. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={formatTime(at)}>
      {describeAge(Date.parse(at), now.value)}
    </time>
  );
}

/** Shows the time elapsed since `since`, and keeps it up to date. */
export function Elapsed({ since }: { readonly since: string }) {
  return <span class="num">{formatDuration(Math.max(0, now.value - Date.parse(since)))}</span>;
}

export function formatTime(at: string): string {
  return FULL_TIME.format(new Date(at));
}

export function describeAge(atMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - atMs) / 1_000);
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  const isThisYear = new Date(atMs).getFullYear() === new Date(nowMs).getFullYear();
  return (isThisYear ? DAY : DAY_AND_YEAR).format(atMs);
}
