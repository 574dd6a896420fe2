import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly kind: "lines" | "bars";
  readonly format: (value: number) => string;
  readonly axis: string;
  readonly grid: string;
  readonly series: readonly { readonly label: string; readonly stroke: string; readonly dash: number[] }[];
}

const HALF_DAY_S = 43_200;

/** A part of its own, loaded with the first chart. */
export function drawChart(target: HTMLElement, drawing: Drawing): uPlot {
  const { width, height, kind, format, axis, grid, series } = drawing;
  const line = { stroke: grid, width: 1 };
  // A line at zero lies at the bottom.
  const least = kind === "bars" ? 0.01 : 1;
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  return new uPlot(
    {
      width,
      height,
      legend: { show: false },
      cursor: { points: { size: 6 }, drag: { x: false, y: false } },
      // Bars stand for UTC days, the outer ones whole.
      ...(kind === "bars" ? { tzDate: (atS: number) => uPlot.tzDate(new Date(atS * 1_000), "Etc/UTC") } : {}),
      scales: {
        x: {
          range: (_chart, first, last) => (kind === "bars" ? [first - HALF_DAY_S, last + HALF_DAY_S] : [first, last]),
        },
        y: { range: (_chart, _low, high) => [0, Math.max(least, high * 1.1)] },
      },
      axes: [
        { stroke: axis, grid: { show: false }, ticks: line },
        { stroke: axis, grid: line, ticks: { show: false }, size: 60, values: (_chart, ticks) => ticks.map(format) },
      ],
      series: [
        {},
        ...series.map(({ label, stroke, dash }) => ({
          label,
          stroke,
          width: 2,
          dash,
          points: { show: false },
          ...(kind === "bars" && bars !== undefined ? { paths: bars, fill: stroke, dash: [] } : {}),
        })),
      ],
    },
    [[], ...series.map(() => [])],
    target,
  );
}
