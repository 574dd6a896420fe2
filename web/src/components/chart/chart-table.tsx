import { formatChartTime } from "../time.tsx";

export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** Hidden table with the values of a chart of days, for screen readers. */
export function ChartTable({
  title,
  at,
  series,
  format,
}: {
  readonly title: string;
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number | null | undefined) => string;
}) {
  return (
    <div class="hidden">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {at.map((atS, position) => (
            <tr key={atS}>
              <th scope="row">{formatChartTime(atS, "bars")}</th>
              {series.map(({ label, values }) => (
                <td key={label}>{format(values[position])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
