import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { theme } from "../../app/theme.ts";
import { ChartTable, type ChartSeries } from "./chart-table.tsx";
import { formatRate } from "../numbers.ts";
import { formatChartTime } from "../time.tsx";

const HEIGHT_PX = 170;
/** Lines also differ by their dashes, not only by colour. */
const STROKES = ["--accent", "--waiting-mark", "--active-mark", "--bad-mark"];
const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

/**
 * Draws lines over time, or stacked bars for UTC days, as soon as the chart library is loaded. Below the title are the
 * values under the pointer, or the latest values. Screen readers get a table of all days.
 * @param at Times in seconds since 1970.
 */
export function Chart({
  title,
  at,
  series,
  kind = "lines",
  format = formatRate,
  isWhole = false,
  top = null,
}: {
  readonly title: string;
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly kind?: "lines" | "bars";
  readonly format?: (value: number) => string;
  readonly isWhole?: boolean;
  /** End of the y axis; null for 10 % above the largest value. */
  readonly top?: number | null;
}) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [isLoaded, setLoaded] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const id = useId();
  const data = useMemo(() => {
    return [at, ...(kind === "bars" ? stacked(series) : series.map(({ values }) => values))] as uPlot.AlignedData;
  }, [at, series, kind]);
  const labels = series.map(({ label }) => label).join("\n");
  const chosenTheme = theme.value;
  useEffect(() => {
    let isShown = true;
    void import("./draw-chart.ts").then(({ drawChart }) => {
      const target = box.current;
      if (!isShown || target === null) return;
      const styles = getComputedStyle(document.documentElement);
      const color = (name: string): string => styles.getPropertyValue(name).trim();
      chart.current = drawChart(target, {
        width: target.clientWidth,
        height: HEIGHT_PX,
        kind,
        format,
        formatTime: (atS) => formatChartTime(atS, kind),
        isWhole,
        top,
        axis: color("--muted"),
        grid: color("--line"),
        series: series.map(({ label }, index) => ({
          label,
          stroke: color(STROKES[index % STROKES.length] ?? "--accent"),
          dash: [...(DASHES[index % DASHES.length] ?? [])],
        })),
        onPoint: setPointed,
      });
      setLoaded(true);
    });
    const observer = new ResizeObserver(() => {
      const target = box.current;
      if (target !== null) chart.current?.setSize({ width: target.clientWidth, height: HEIGHT_PX });
    });
    if (box.current !== null) observer.observe(box.current);
    return () => {
      isShown = false;
      observer.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [labels, chosenTheme, kind, isWhole, top]);
  useEffect(() => chart.current?.setData(data), [data, isLoaded]);
  const shown = pointed !== null && pointed < at.length ? pointed : at.length - 1;
  const textOf = (value: number | null | undefined): string => (value == null ? "–" : format(value));
  return (
    <section class="panel chart" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="chart-values" aria-hidden={kind === "bars"}>
        <span class="muted num">{at[shown] === undefined ? "" : formatChartTime(at[shown], kind)}</span>
        {series.map(({ label, values }, index) => (
          <span
            key={label}
            class={series.length > 1 ? `key stroke-${index % STROKES.length} ${kind === "bars" ? "solid" : ""}` : ""}
          >
            {series.length > 1 && `${label} `}
            <span class="num">{textOf(values[shown])}</span>
          </span>
        ))}
      </p>
      <div ref={box} class="chart-box" aria-hidden="true" />
      {kind === "bars" && <ChartTable title={title} at={at} series={series} format={textOf} />}
    </section>
  );
}

/**
 * Adds to each series the following ones. The first sum is drawn first, and the others cover it except for its own
 * part.
 */
function stacked(series: readonly ChartSeries[]): (number | null)[][] {
  return series.map(({ values }, index) =>
    values.map((value, position) => {
      if (value === null) return null;
      return series.slice(index + 1).reduce((sum, { values: others }) => sum + (others[position] ?? 0), value);
    }),
  );
}
