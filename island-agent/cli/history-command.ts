import { askAgent } from "../control/control-client.ts";
import type { Earnings } from "../execution/earnings.ts";
import type { EndedJob } from "../execution/job-history.ts";
import { inSeconds, type ShownStatus } from "./status-command.ts";

/** What the agent remembers of its last jobs, and what the coordinator says that they earned. */
export interface ShownHistory {
  /** Newest first. */
  readonly jobs: readonly EndedJob[];
  /** Null when the coordinator did not say. */
  readonly earnings: Earnings | null;
}

const SHOWN_LAST = 3;

/** Null when no agent runs on this data directory. @throws {CliError} for an agent of an earlier version. */
export async function readHistory(dataDirectory: string): Promise<ShownHistory | null> {
  return (await askAgent<ShownHistory>(dataDirectory, "/history")) ?? null;
}

/** `island history`: a line for each job. */
export function describeHistory(history: ShownHistory | null, limit: number): string {
  if (history === null) return "No agent runs on this data directory. Start it with: island start";
  const { jobs, earnings } = history;
  if (jobs.length === 0) return "No job has ended here yet";
  const credits = creditsOf(earnings);
  const rows = jobs.slice(0, limit).map(({ jobId, slug, startedAtMs, runMs, outcome }) => {
    const earned = credits.get(jobId);
    return [
      new Date(startedAtMs).toISOString().slice(0, 19).replace("T", " "),
      slug,
      inSeconds(runMs),
      outcome,
      earned === undefined ? "-" : `${earned} credits`,
      jobId,
    ];
  });
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const note = earnings === null ? ["(the coordinator does not answer: credits are not known)"] : [];
  return ["Times are UTC.", ...lines, ...note].join("\n");
}

/** `island status`: what an owner asks first. */
export function describeBriefly(status: ShownStatus, { jobs, earnings }: ShownHistory, nowMs: number): string {
  const { link, closedBecause, coordinatorUrl, running, slots, quarantine } = status;
  const rows: [string, string][] = [
    ["Island", `${earnings?.name ?? status.hostId}, ${closedBecause ?? link}, at ${coordinatorUrl}`],
    ["Earned", earnings === null ? "not known: the coordinator does not answer" : describeEarned(earnings)],
    ...(earnings === null ? [] : [["Uptime", describeUptime(earnings)] satisfies [string, string]]),
    ["Running", `${running.length} of ${slots} slots`],
    ...running.map(({ slug, forMs }): [string, string] => ["", `${slug}, for ${inSeconds(forMs)}`]),
  ];
  if (quarantine) rows.push(["Quarantine", "several jobs in a row failed here: island status --verbose"]);
  if (status.lastProblem !== null) rows.push(["Problem", status.lastProblem]);
  const credits = creditsOf(earnings);
  for (const [index, job] of jobs.slice(0, SHOWN_LAST).entries()) {
    const earned = credits.get(job.jobId);
    const facts = [job.slug, job.outcome, `${ago(nowMs - job.startedAtMs - job.runMs)} ago`];
    rows.push([
      index === 0 ? "Last jobs" : "",
      [...facts, ...(earned === undefined ? [] : [`${earned} credits`])].join(", "),
    ]);
  }
  return rows.map(([name, value]) => `${name.padEnd(11)}${value}`).join("\n");
}

function describeEarned({ earned }: Earnings): string {
  return `${earned.today} credits today, ${earned.days_7} in 7 days, ${earned.days_30} in 30 days`;
}

function describeUptime({ uptime }: Earnings): string {
  const [today, days7, days30] = [uptime.today, uptime.days_7, uptime.days_30].map((share) =>
    share === null ? "-" : `${Math.floor(share * 1_000) / 10} %`,
  );
  return `${today} today, ${days7} in 7 days, ${days30} in 30 days`;
}

function creditsOf(earnings: Earnings | null): ReadonlyMap<string, number> {
  return new Map(earnings?.recent.map((one) => [one.job_id, one.credits]));
}

/** In one unit. */
function ago(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1_000));
  if (s < 120) return `${s} s`;
  if (s < 7_200) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3_600)} h` : `${Math.floor(s / 86_400)} days`;
}
