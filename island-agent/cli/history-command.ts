import { describeDownload } from "../artifacts/describe-download.ts";
import { getFromAgent } from "../control/control-client.ts";
import type { Earnings, ShownStanding } from "../execution/earnings.ts";
import type { EndedJob } from "../execution/job-history.ts";
import { formatAge } from "../../shared/cli/format-age.ts";
import { fixed, flexible, tableOf } from "../../shared/cli/text-table.ts";
import { describeEngines, describeMachine, describeNoSpace, inSeconds, type ShownStatus } from "./status-command.ts";

/** The agent's most recent jobs, with the coordinator's earnings for them. */
export interface ShownHistory {
  readonly jobs: readonly EndedJob[];
  /** Earnings; null if the coordinator did not reply. */
  readonly earnings: Earnings | null;
  /** How far this machine's clock is ahead of the coordinator's; null or absent if unknown. */
  readonly clockAheadMs?: number | null;
}

const RECENT_JOBS_SHOWN = 3;
const STANDINGS_SHOWN = 5;
const COLUMNS = [
  fixed("TIME (UTC)"),
  flexible("CARGO"),
  fixed("RAN"),
  fixed("OUTCOME"),
  fixed("CREDITS"),
  flexible("JOB"),
  flexible("WHY"),
];
/** Clock error above which a warning is shown. */
const MAX_CLOCK_ERROR_MS = 60_000;

/** Returns null when no agent runs on this data directory. @throws {CliError} for an agent of an earlier version. */
export async function readHistory(dataDirectory: string): Promise<ShownHistory | null> {
  return (await getFromAgent<ShownHistory>(dataDirectory, "/history")) ?? null;
}

/** Returns the text of `island history`, a line for each job. @param width of the terminal. */
export function describeHistory(history: ShownHistory, width: number): string {
  const { jobs, earnings } = history;
  if (jobs.length === 0) return "No job has ended on this Island yet";
  const credits = creditsOf(earnings);
  const rows = jobs.map(({ jobId, slug, startedAtMs, runMs, outcome, why = "" }) => {
    const earned = credits.get(jobId);
    return [
      new Date(startedAtMs).toISOString().slice(0, 19).replace("T", " "),
      slug,
      inSeconds(runMs),
      outcome,
      earned === undefined ? "-" : `${earned}`,
      jobId,
      why,
    ];
  });
  const note = earnings === null ? ["(credits unknown: no response from the coordinator)"] : [];
  return [tableOf(COLUMNS, rows, { width }), ...note].join("\n");
}

/** Returns the text of `island status`, a summary for the owner. */
export function describeBriefly(
  status: ShownStatus,
  { jobs, earnings, clockAheadMs = null }: ShownHistory,
  nowMs: number,
): string {
  const { link, closedBecause, coordinatorUrl, running, slots, quarantine } = status;
  const rows: [string, string][] = [
    ["Island", `${earnings?.name ?? status.hostId}, ${closedBecause ?? link}, at ${coordinatorUrl}`],
    ["Earned", earnings === null ? "unknown: no response from the coordinator" : describeEarned(earnings)],
    ...(earnings === null ? [] : [["Uptime", describeUptime(earnings)] satisfies [string, string]]),
    ...describeStandings(earnings?.standings ?? []),
    ...describeMachine(status),
    ["Running", `${running.length} of ${slots} slots`],
    ...running.map((job): [string, string] => ["", describeRunning(job, status)]),
    ...describeOtherDownloads(status),
    ...describeEngines(status),
  ];
  if (quarantine) rows.push(["Quarantine", "several jobs in a row failed; for details: island status --verbose"]);
  if (clockAheadMs !== null && Math.abs(clockAheadMs) > MAX_CLOCK_ERROR_MS) {
    const side = clockAheadMs > 0 ? "ahead of" : "behind";
    rows.push([
      "Clock",
      `${formatAge(Math.abs(clockAheadMs))} ${side} the coordinator's clock. Correct the time of this machine`,
    ]);
  }
  rows.push(...describeNoSpace(status));
  if (status.lastProblem !== null && link !== "connected") rows.push(["Problem", status.lastProblem]);
  const credits = creditsOf(earnings);
  for (const [index, job] of jobs.slice(0, RECENT_JOBS_SHOWN).entries()) {
    const earned = credits.get(job.jobId);
    const facts = [job.slug, job.outcome, `${formatAge(nowMs - job.startedAtMs - job.runMs)} ago`];
    const text = [...facts, ...(earned === undefined ? [] : [`${earned} credits`])].join(", ");
    rows.push([index === 0 ? "Last jobs" : "", job.why === undefined ? text : `${text}: ${job.why}`]);
  }
  return rows.map(([name, value]) => `${name.padEnd(11)}${value}`).join("\n");
}

/**
 * Returns the state of a job: "my-model: downloading 120 of 202 MiB, 4.0 MiB/s, 20 s left", "my-model: loading, for 3.0
 * s" or "my-model, for 16.8 s".
 */
function describeRunning(
  { slug, forMs }: ShownStatus["running"][number],
  { downloads = [], loading = [] }: Pick<ShownStatus, "downloads" | "loading">,
): string {
  const download = downloads.find((each) => each.slug === slug);
  if (download !== undefined) return `${slug}: ${describeDownloading(download)}`;
  return `${slug}${loading.includes(slug) ? ": loading" : ""}, for ${inSeconds(forMs)}`;
}

/** Returns the downloads that no job waits for: preloads and pulls. */
function describeOtherDownloads({ running, downloads = [] }: ShownStatus): [string, string][] {
  const awaited = new Set(running.map(({ slug }) => slug));
  const others = downloads.filter(({ slug }) => !awaited.has(slug));
  return others.map((download, index) => [
    index === 0 ? "Downloads" : "",
    `${download.slug}: ${describeDownloading(download)}`,
  ]);
}

function describeDownloading(download: NonNullable<ShownStatus["downloads"]>[number]): string {
  return `downloading ${describeDownload(download)}`.trimEnd();
}

function describeEarned({ earned }: Earnings): string {
  return `${earned.today} credits today, ${earned.days_7} in 7 days, ${earned.days_30} in 30 days`;
}

function describeUptime({ uptime }: Earnings): string {
  if (Object.values(uptime).every((share) => share === null)) return "available after the first minute";
  const [today, days7, days30] = [uptime.today, uptime.days_7, uptime.days_30].map((share) =>
    share === null ? "-" : `${Math.floor(share * 1_000) / 10} %`,
  );
  return `${today} today, ${days7} in 7 days, ${days30} in 30 days`;
}

/** Returns what audits found out, such as "tiny-chat new, 4 of 10 audits; 0.12 credits held". */
function describeStandings(standings: readonly ShownStanding[]): [string, string][] {
  const shown = standings.toSorted((a, b) => b.held_credits - a.held_credits).slice(0, STANDINGS_SHOWN);
  const others = standings.length - shown.length;
  const lines = [...shown.map(describeStanding), ...(others === 0 ? [] : [`${others} more Cargos`])];
  return lines.map((text, index) => [index === 0 ? "Checked" : "", text]);
}

function describeStanding({ cargo, state, streak, reason, proven_after, held_credits }: ShownStanding): string {
  const audits = state === "new" ? `, ${streak} of ${proven_after} audits` : "";
  const because = state === "quarantined" && reason !== null ? `: ${reason}` : "";
  return `${cargo} ${state}${audits}${because}${held_credits === 0 ? "" : `; ${held_credits} credits held`}`;
}

function creditsOf(earnings: Earnings | null): ReadonlyMap<string, number> {
  return new Map(earnings?.recent.map((one) => [one.job_id, one.credits]));
}
