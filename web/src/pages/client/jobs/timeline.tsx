import type { Job } from "@atoll/client";
import { formatDuration } from "../../../components/numbers.ts";
import { formatTime } from "../../../components/time.tsx";

interface Step {
  readonly label: string;
  readonly at: string | null;
  /** How long the step took, in words. */
  readonly after: string | null;
  readonly tone: "waiting" | "active" | "good" | "bad" | "neutral";
}

/** Shows how a job's time was spent: waiting, loading the model, running. */
export function Timeline({ job }: { readonly job: Job }) {
  const segments = segmentsOf(job);
  const whole = segments.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <div class="timeline">
      {whole > 0 && (
        <>
          <div class="timeline-bar" aria-hidden="true">
            {segments.map(({ label, ms, tone }) => (
              <span key={label} class={`segment ${tone}`} style={{ flexGrow: String(Math.max(ms / whole, 0.01)) }} />
            ))}
          </div>
          <p class="timeline-legend">
            {segments.map(({ label, ms, tone }) => (
              <span key={label} class={`badge ${tone}`}>
                {label} {formatDuration(ms)}
              </span>
            ))}
          </p>
        </>
      )}
      <ol>
        {stepsOf(job).map(({ label, at, after, tone }) => (
          <li key={label} class={tone}>
            <span class="step-label">{label}</span>
            {at !== null && <time dateTime={at}>{formatTime(at)}</time>}
            {after !== null && <span class="muted num">{after}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function segmentsOf({ created_at, started_at, completed_at, timings }: Job) {
  if (started_at === null) return [];
  const beforeStart = Math.max(0, Date.parse(started_at) - Date.parse(created_at));
  const ran = completed_at === null ? 0 : Date.parse(completed_at) - Date.parse(started_at);
  // An Island loads the model before the job starts.
  const load = Math.min(timings?.load_ms ?? 0, beforeStart);
  return [
    { label: "waited", ms: beforeStart - load, tone: "waiting" },
    { label: "loaded", ms: load, tone: "neutral" },
    { label: "ran", ms: Math.max(0, ran), tone: "active" },
  ].filter(({ ms }) => ms > 0);
}

function stepsOf(job: Job): Step[] {
  const { created_at, started_at, completed_at, timings, status, attempts, waiting } = job;
  const steps: Step[] = [{ label: "Submitted", at: created_at, after: null, tone: "neutral" }];
  if (timings !== null && timings.load_ms > 0) {
    steps.push({ label: "Model loaded", at: null, after: `in ${formatDuration(timings.load_ms)}`, tone: "active" });
  }
  if (started_at === null && completed_at === null && waiting !== null) {
    if (job.island_id !== null) {
      steps.push({ label: `Assigned to an Island (attempt ${attempts})`, at: null, after: null, tone: "neutral" });
    }
    const percent = waiting.percent === null ? null : `${waiting.percent} %`;
    const label = waiting.reason === "model_downloading" ? "Downloading the model" : "Waiting";
    steps.push({ label, at: null, after: percent, tone: "waiting" });
  }
  if (started_at !== null) {
    const label = attempts > 1 ? `Started (attempt ${attempts})` : "Started";
    steps.push({
      label,
      at: started_at,
      after: describeInterval(created_at, started_at, "submission"),
      tone: "active",
    });
  }
  if (timings?.first_output_ms != null) {
    const after = `${formatDuration(timings.first_output_ms)} after the start`;
    steps.push({ label: "First output", at: null, after, tone: "active" });
  }
  if (completed_at !== null) {
    const since =
      started_at === null
        ? describeInterval(created_at, completed_at, "submission")
        : describeInterval(started_at, completed_at, "the start");
    const tone = status === "completed" ? "good" : status === "cancelled" ? "neutral" : "bad";
    steps.push({ label: ENDINGS[status] ?? status, at: completed_at, after: since, tone });
  }
  return steps;
}

/** Returns a text such as "4.2 s after the start". */
function describeInterval(from: string, to: string, what: string): string {
  return `${formatDuration(Math.max(0, Date.parse(to) - Date.parse(from)))} after ${what}`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  timeout: "Timed out",
};
