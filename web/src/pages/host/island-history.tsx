import type { IslandDetail } from "@atoll/client";
import { formatCredits, formatShare, formatWhole } from "../../components/numbers.ts";

export function IslandHistory({ island: { earned, uptime, jobs, tokens } }: { readonly island: IslandDetail }) {
  const ended = jobs.completed + jobs.failed + jobs.timeout + jobs.cancelled;
  return (
    <section class="panel" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <div class="simple-table" role="group" aria-label="Earnings and uptime" tabIndex={0}>
        <table aria-label="Earnings and uptime">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Figure</span>
              </th>
              <th scope="col" class="number">
                Today
              </th>
              <th scope="col" class="number">
                7 days
              </th>
              <th scope="col" class="number">
                30 days
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">Credits earned</th>
              <td class="number">{formatCredits(earned.today)}</td>
              <td class="number">{formatCredits(earned.days_7)}</td>
              <td class="number">{formatCredits(earned.days_30)}</td>
            </tr>
            <tr>
              <th scope="row">Connected</th>
              <td class="number">{formatShare(uptime.today)}</td>
              <td class="number">{formatShare(uptime.days_7)}</td>
              <td class="number">{formatShare(uptime.days_30)}</td>
            </tr>
          </tbody>
        </table>
      </div>
      <h3>Jobs of the last 30 days</h3>
      <Outcomes jobs={jobs} ended={ended} />
      <p class="muted">
        <span class="num">{formatWhole(tokens)}</span> tokens
        {jobs.retried > 0 && `; ${formatWhole(jobs.retried)} failed attempts; their jobs were retried`}. Jobs and tokens
        are counted once a minute.
      </p>
    </section>
  );
}

function Outcomes({ jobs, ended }: { readonly jobs: IslandDetail["jobs"]; readonly ended: number }) {
  if (ended === 0) return <p class="muted">None yet.</p>;
  const parts = [
    { label: "completed", count: jobs.completed, tone: "good" },
    { label: "failed", count: jobs.failed, tone: "bad" },
    { label: "timed out", count: jobs.timeout, tone: "bad" },
    { label: "cancelled", count: jobs.cancelled, tone: "neutral" },
  ].filter(({ count }) => count > 0);
  return (
    <div class="timeline">
      <div class="timeline-bar" aria-hidden="true">
        {parts.map(({ label, count, tone }) => (
          <span key={label} class={`segment ${tone}`} style={{ flexGrow: String(count / ended) }} />
        ))}
      </div>
      <p>
        {parts.map(({ label, count }) => `${formatWhole(count)} ${label}`).join(", ")} of{" "}
        <span class="num">{formatWhole(ended)}</span>
      </p>
    </div>
  );
}
