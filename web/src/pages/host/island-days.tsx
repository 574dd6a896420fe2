import type { IslandDay } from "@atoll/client";
import { Chart } from "../../components/chart/chart.tsx";
import { formatCredits, formatShare, formatWhole } from "../../components/numbers.ts";

export function IslandDays({ days }: { readonly days: readonly IslandDay[] }) {
  const at = days.map(({ day }) => Date.parse(day) / 1_000);
  const values = (read: (day: IslandDay) => number | null) => days.map(read);
  return (
    <div class="columns">
      <Chart
        title="Credits earned per day"
        kind="bars"
        at={at}
        series={[{ label: "Credits", values: values(({ earned }) => earned) }]}
        format={formatCredits}
      />
      <Chart
        title="Jobs per day"
        kind="bars"
        at={at}
        series={[
          { label: "Completed", values: values(({ jobs }) => jobs.completed) },
          { label: "Others", values: values(({ jobs }) => jobs.failed + jobs.timeout + jobs.cancelled) },
        ]}
        format={formatWhole}
        isWhole
      />
      <Chart
        title="Tokens per day"
        kind="bars"
        at={at}
        series={[{ label: "Tokens", values: values(({ tokens }) => tokens) }]}
        format={formatWhole}
        isWhole
      />
      <Chart
        title="Time connected per day"
        kind="bars"
        at={at}
        series={[{ label: "Connected", values: values(({ uptime }) => uptime) }]}
        format={formatShare}
        top={1}
      />
    </div>
  );
}
