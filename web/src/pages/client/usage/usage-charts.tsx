import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { readUsage, type UsageLine } from "../../../app/account-api.ts";
import { networkNow } from "../../../app/clock.ts";
import { useResource } from "../../../app/resource.ts";
import { Link } from "../../../app/router.tsx";
import { Chart } from "../../../components/chart/chart.tsx";
import { formatCredits, formatWhole } from "../../../components/numbers.ts";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { Loaded } from "../../../components/states.tsx";
import { dayOf, usageByDay } from "./usage-by-day.ts";

const PERIOD_DAYS = [7, 30, 90] as const;
const DAY_MS = 86_400_000;

/** Charts and tables of the credits spent and earned, by day, by Cargo and by key. */
export function UsageCharts() {
  const [days, setDays] = useState<(typeof PERIOD_DAYS)[number]>(30);
  const usage = useResource(
    async (signal) => {
      const nowMs = networkNow();
      const period = { from: dayOf(nowMs - (days - 1) * DAY_MS), to: dayOf(nowMs) };
      const [byDay, byCargo, byKey, keys] = await Promise.all([
        readUsage({ ...period, by: ["day"] }, signal),
        readUsage({ ...period, by: ["workload"] }, signal),
        readUsage({ ...period, by: ["api_key"], kind: "spent" }, signal),
        api().apiKeys.list({ signal }),
      ]);
      const names = new Map(keys.map(({ id, name }) => [id, name]));
      return { byDay: usageByDay(byDay, nowMs, days), byCargo, byKey, names };
    },
    [days],
  );
  return (
    <>
      <div class="segmented" role="group" aria-label="Period">
        {PERIOD_DAYS.map((period) => (
          <button key={period} type="button" aria-pressed={period === days} onClick={() => setDays(period)}>
            {period} days
          </button>
        ))}
      </div>
      <Loaded of={usage} what="the usage">
        {({ byDay, byCargo, byKey, names }) => (
          <>
            <div class="columns">
              <Chart
                title="Credits spent"
                kind="bars"
                at={byDay.at}
                series={[{ label: "Spent", values: byDay.spent }]}
                format={formatCredits}
              />
              <Chart
                title="Credits earned"
                kind="bars"
                at={byDay.at}
                series={[{ label: "Earned", values: byDay.earned }]}
                format={formatCredits}
              />
            </div>
            <ByCargo lines={byCargo} />
            <ByKey lines={byKey} names={names} />
          </>
        )}
      </Loaded>
    </>
  );
}

function ByCargo({ lines }: { readonly lines: readonly UsageLine[] }) {
  if (lines.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="by-cargo-title">
      <h2 id="by-cargo-title">By Cargo</h2>
      <SimpleTable
        rows={lines.toSorted((a, b) => b.credits - a.credits)}
        label="Usage by Cargo"
        keyOf={({ kind, workload_slug: slug }) => `${kind} ${slug}`}
        columns={[
          {
            label: "Cargo",
            cell: ({ workload_slug: slug }) =>
              slug === null ? (
                <span class="muted">deleted</span>
              ) : (
                <Link to={`/catalog/${encodeURIComponent(slug)}`}>{slug}</Link>
              ),
          },
          { label: "What", cell: ({ kind }) => kind },
          { label: "Jobs", isNumber: true, cell: ({ jobs }) => formatWhole(jobs) },
          {
            label: "Tokens",
            isNumber: true,
            isExtra: true,
            cell: (line) => formatWhole(line.prompt_tokens + line.completion_tokens),
          },
          { label: "Credits", isNumber: true, cell: ({ credits }) => formatCredits(credits) },
        ]}
      />
    </section>
  );
}

function ByKey({
  lines,
  names,
}: {
  readonly lines: readonly UsageLine[];
  readonly names: ReadonlyMap<string, string>;
}) {
  if (lines.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="by-key-title">
      <h2 id="by-key-title">By key</h2>
      <SimpleTable
        rows={lines.toSorted((a, b) => b.credits - a.credits)}
        label="Usage by key"
        keyOf={({ api_key_id: id }) => id ?? ""}
        columns={[
          {
            label: "Key",
            cell: ({ api_key_id: id }) =>
              id === null ? "this console" : (names.get(id) ?? <span class="muted">revoked</span>),
          },
          { label: "Jobs", isNumber: true, cell: ({ jobs }) => formatWhole(jobs) },
          {
            label: "Tokens",
            isNumber: true,
            isExtra: true,
            cell: (line) => formatWhole(line.prompt_tokens + line.completion_tokens),
          },
          { label: "Credits spent", isNumber: true, cell: ({ credits }) => formatCredits(credits) },
        ]}
      />
    </section>
  );
}
