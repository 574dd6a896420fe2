import type { Job } from "@atoll/client";
import { formatDuration } from "../../../components/numbers.ts";
import { formatTime } from "../../../components/time.tsx";

interface Step {
  readonly label: string;
  readonly at: string | null;
  readonly ms: number | null;
  readonly tone: "waiting" | "active" | "good" | "bad" | "neutral";
}

/** Where a job's time went: waiting, loading the model, running. */
export function Timeline({ job }: { readonly job: Job }) {
  const segments = segmentsOf(job);
  const whole = segments.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <div class="timeline">
      {whole > 0 && (
        <div class="timeline-bar" aria-hidden="true">
          {segments.map(({ label, ms, tone }) => (
            <span key={label} class={`segment ${tone}`} style={{ flexGrow: String(Math.max(ms / whole, 0.01)) }} />
          ))}
        </div>
      )}
      <ol>
        {stepsOf(job).map(({ label, at, ms, tone }) => (
          <li key={label} class={tone}>
            <span class="step-label">{label}</span>
            {at !== null && <time dateTime={at}>{formatTime(at)}</time>}
            {ms !== null && <span class="muted num">after {formatDuration(ms)}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function segmentsOf({ created_at, started_at, completed_at, timings }: Job) {
  if (started_at === null) return [];
  const waited = Date.parse(started_at) - Date.parse(created_at);
  const ran = (completed_at === null ? Date.parse(started_at) : Date.parse(completed_at)) - Date.parse(started_at);
  const load = Math.min(timings?.load_ms ?? 0, ran);
  return [
    { label: "waited", ms: Math.max(0, waited), tone: "waiting" },
    { label: "loaded", ms: load, tone: "neutral" },
    { label: "ran", ms: Math.max(0, ran - load), tone: "active" },
  ].filter(({ ms }) => ms > 0);
}

function stepsOf(job: Job): Step[] {
  const { created_at, started_at, completed_at, timings, status, attempts } = job;
  const steps: Step[] = [{ label: "Submitted", at: created_at, ms: null, tone: "neutral" }];
  if (started_at !== null) {
    const label = attempts > 1 ? `Started (attempt ${attempts})` : "Started";
    steps.push({ label, at: started_at, ms: Date.parse(started_at) - Date.parse(created_at), tone: "active" });
  }
  if (timings !== null && timings.load_ms > 0) {
    steps.push({ label: "Model loaded", at: null, ms: timings.load_ms, tone: "active" });
  }
  if (timings?.first_output_ms != null) {
    steps.push({ label: "First output", at: null, ms: timings.first_output_ms, tone: "active" });
  }
  if (completed_at !== null) {
    const since = Date.parse(started_at ?? created_at);
    const tone = status === "completed" ? "good" : status === "cancelled" ? "neutral" : "bad";
    steps.push({ label: ENDINGS[status] ?? status, at: completed_at, ms: Date.parse(completed_at) - since, tone });
  }
  return steps;
}

const ENDINGS: Readonly<Record<string, string>> = {
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  timeout: "Timed out",
};
