import { useEffect, useId, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { theme } from "../app/theme.ts";
import { formatRate } from "./numbers.ts";

export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

const HEIGHT_PX = 190;
/** Two lines are told apart by their dashes too. */
const STROKES = ["--accent", "--waiting-mark", "--active-mark", "--bad-mark"];
const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

/**
 * Lines or bars over time, drawn when their library has come. Its table holds the same for screen readers.
 * @param at Times in seconds since 1970.
 */
export function Chart({
  title,
  at,
  series,
  kind = "lines",
  format = formatRate,
}: {
  readonly title: string;
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly kind?: "lines" | "bars";
  readonly format?: (value: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [isLoaded, setLoaded] = useState(false);
  const id = useId();
  const data = [at, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
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
        axis: color("--muted"),
        grid: color("--line"),
        series: series.map(({ label }, index) => ({
          label,
          stroke: color(STROKES[index % STROKES.length] ?? "--accent"),
          dash: [...(DASHES[index % DASHES.length] ?? [])],
        })),
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
  }, [labels, chosenTheme, kind]);
  useEffect(() => chart.current?.setData(data), [data, isLoaded]);
  return (
    <section class="panel chart" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <ul class="legend">
          {series.length > 1 &&
            series.map(({ label }, index) => (
              <li key={label} class={`stroke-${index % STROKES.length}`}>
                {label}
              </li>
            ))}
        </ul>
      </div>
      <div ref={box} class="chart-box" aria-hidden="true" />
      <p class="hidden">
        {series
          .map(({ label, values }) => `${label}: ${values.at(-1) == null ? "unknown" : format(values.at(-1) ?? 0)}`)
          .join("; ")}
      </p>
    </section>
  );
}
