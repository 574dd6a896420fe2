import type { NetworkOverview as Overview } from "@atoll/client";
import { api } from "../../app/api.ts";
import { useLiveOverview } from "../../app/live.ts";
import { useEffect, useState } from "preact/hooks";
import { useResource } from "../../app/resource.ts";
import { Link } from "../../app/router.tsx";
import { Chart } from "../../components/chart/chart.tsx";
import { formatDuration, formatRate, formatShare, formatWhole } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { SimpleTable } from "../../components/simple-table.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Tile } from "../../components/tile.tsx";
import { Announcements } from "./announcements.tsx";
import { reasonInWords } from "./reasons.ts";

const MAX_POINTS = 200;

interface Point {
  readonly atS: number;
  readonly tokensPerSecond: number;
  readonly waiting: number;
  readonly finished: number;
}

export function OverviewPage() {
  const overview = useResource((signal) => api().operator.overview({ signal }), []);
  const [points, setPoints] = useState<readonly Point[]>([]);
  useLiveOverview(overview.set);
  const { value } = overview;
  useEffect(() => {
    if (value === undefined) return;
    const point = {
      atS: Date.now() / 1_000,
      tokensPerSecond: value.tokens_per_second,
      waiting: value.jobs.waiting,
      finished: value.jobs.finished_last_minute,
    };
    setPoints((last) => [...last, point].slice(-MAX_POINTS));
  }, [value]);
  return (
    <>
      <PageHead title="Network" note="Live totals of all coordinators." />
      <Loaded of={overview} what="the overview">
        {(shown) => (
          <>
            <Tiles overview={shown} />
            <div class="columns">
              <Chart
                title="Tokens per second"
                at={points.map(({ atS }) => atS)}
                series={[{ label: "Tokens per second", values: points.map(({ tokensPerSecond }) => tokensPerSecond) }]}
              />
              <Chart
                title="Jobs"
                at={points.map(({ atS }) => atS)}
                series={[
                  { label: "Finished in the last minute", values: points.map(({ finished }) => finished) },
                  { label: "Waiting", values: points.map(({ waiting }) => waiting) },
                ]}
              />
            </div>
            <div class="columns">
              <Waiting overview={shown} />
              <Announcements />
            </div>
            <Work overview={shown} />
            <Coordinators overview={shown} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Tiles({
  overview: { islands, slots, jobs, tokens_per_second, first_token_ms, errors_last_minute },
}: {
  readonly overview: Overview;
}) {
  const time = (ms: number | null): string => (ms === null ? "–" : formatDuration(ms));
  return (
    <dl class="tiles">
      <Tile label="Islands online" value={`${formatWhole(islands.online)} of ${formatWhole(islands.known)}`} />
      <Tile label="Slots busy" value={`${formatWhole(slots.all - slots.free)} of ${formatWhole(slots.all)}`} />
      <Tile label="Jobs running" value={formatWhole(jobs.running)} />
      <Tile label="Jobs waiting" value={formatWhole(jobs.waiting)} />
      <Tile label="Finished in the last minute" value={formatWhole(jobs.finished_last_minute)} />
      <Tile label="Tokens per second" value={formatRate(tokens_per_second)} />
      <Tile label="First token, p50" value={time(first_token_ms.p50)} />
      <Tile label="First token, p99" value={time(first_token_ms.p99)} />
      <Tile label="Errors in the last minute" value={formatWhole(errors_last_minute)} />
    </dl>
  );
}

function Waiting({ overview: { waiting_by_reason: reasons, jobs } }: { readonly overview: Overview }) {
  return (
    <section class="panel" aria-labelledby="waiting-title">
      <div class="panel-head">
        <h2 id="waiting-title">Waiting jobs by reason</h2>
        <Link to="/operator/queue">Queue</Link>
      </div>
      {reasons.length === 0 ? (
        <p class="muted">No jobs are waiting.</p>
      ) : (
        <ul class="bars">
          {reasons.map(({ reason, jobs: count }) => (
            <li key={reason}>
              <span>{reasonInWords(reason)}</span>
              <span class="meter-bar" aria-hidden="true">
                <span style={{ width: `${Math.round((count / Math.max(1, jobs.waiting)) * 100)}%` }} />
              </span>
              <span class="num">{formatWhole(count)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Work({ overview: { work_last_10_minutes: work } }: { readonly overview: Overview }) {
  const all = work.islands.reduce((sum, { completion_tokens }) => sum + completion_tokens, 0);
  const slots = work.islands.reduce((sum, island) => sum + island.slots, 0);
  const share = (part: number, whole: number): string => (whole === 0 ? "–" : formatShare(part / whole));
  return (
    <section class="panel" aria-labelledby="work-title">
      <div class="panel-head">
        <h2 id="work-title">Work by Island</h2>
        <Link to="/operator/islands">Islands</Link>
      </div>
      <p class="muted">
        Jobs that ended in the last 10 minutes. Caches saved{" "}
        <span class="num">{formatWhole(work.cached_prompt_tokens)}</span> of{" "}
        <span class="num">{formatWhole(work.prompt_tokens)}</span> prompt tokens. Shares are of the listed Islands.
      </p>
      {work.islands.length > 0 && (
        <SimpleTable
          rows={work.islands}
          label="Work by Island"
          keyOf={({ island_id }) => island_id}
          columns={[
            { label: "Island", cell: ({ island_id: id }) => <span class="id">{id}</span> },
            { label: "Slots", isNumber: true, cell: (island) => formatWhole(island.slots) },
            { label: "Share of slots", isNumber: true, cell: (island) => share(island.slots, slots) },
            { label: "Tokens", isNumber: true, cell: (island) => formatWhole(island.completion_tokens) },
            { label: "Share of tokens", isNumber: true, cell: (island) => share(island.completion_tokens, all) },
            { label: "Cached tokens", isNumber: true, cell: (island) => formatWhole(island.cached_prompt_tokens) },
          ]}
        />
      )}
    </section>
  );
}

function Coordinators({ overview: { coordinators } }: { readonly overview: Overview }) {
  return (
    <section class="panel" aria-labelledby="coordinators-title">
      <h2 id="coordinators-title">Coordinators</h2>
      {coordinators.length === 0 ? (
        <EmptyState title="No coordinator responded" />
      ) : (
        <SimpleTable
          rows={coordinators}
          label="Coordinators"
          keyOf={({ address }) => address}
          columns={[
            {
              label: "Address",
              cell: ({ address }) => (address === "" ? "this one" : <span class="id">{address}</span>),
            },
            {
              label: "State",
              cell: ({ answers }) => (
                <Badge tone={answers ? "good" : "bad"}>{answers ? "responding" : "not responding"}</Badge>
              ),
            },
            { label: "Islands", isNumber: true, cell: ({ islands }) => formatWhole(islands) },
            { label: "Slots busy", isNumber: true, cell: ({ slots }) => `${slots.all - slots.free} of ${slots.all}` },
            { label: "Running", isNumber: true, cell: ({ jobs }) => formatWhole(jobs.running) },
            { label: "Waiting", isNumber: true, cell: ({ jobs }) => formatWhole(jobs.waiting) },
            { label: "Version", cell: ({ version }) => version },
          ]}
        />
      )}
    </section>
  );
}
