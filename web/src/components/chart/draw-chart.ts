import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface ChartOptions {
  readonly width: number;
  readonly height: number;
  readonly kind: "lines" | "bars";
  readonly format: (value: number) => string;
  readonly formatTime: (atS: number) => string;
  readonly isWhole: boolean;
  /** End of the y axis; null for 10 % above the largest value. */
  readonly top: number | null;
  readonly axis: string;
  readonly grid: string;
  readonly series: readonly { readonly label: string; readonly stroke: string; readonly dash: number[] }[];
  /** Called with the index of the point under the pointer, or null. */
  readonly onPoint: (index: number | null) => void;
}

const HALF_DAY_S = 43_200;
/**
 * Minimum span of the x axis of lines, which start with a single point. Labels less than a second apart would look the
 * same.
 */
const MIN_SPAN_S = 60;
const INTEGER_STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** Draws a chart. This module is loaded with the first chart. */
export function drawChart(target: HTMLElement, drawing: ChartOptions): uPlot {
  const { width, height, kind, format, formatTime, isWhole, top, axis, grid, series, onPoint } = drawing;
  const line = { stroke: grid, width: 1 };
  // Keeps a line of zeros at the bottom.
  const least = kind === "bars" && !isWhole ? 0.01 : 1;
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  return new uPlot(
    {
      width,
      height,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { points: { size: 6 }, drag: { x: false, y: false } },
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
      // Bars are UTC days.
      ...(kind === "bars" ? { tzDate: (atS: number) => uPlot.tzDate(new Date(atS * 1_000), "Etc/UTC") } : {}),
      scales: {
        x: {
          // Shows the first and the last bar in full.
          range: (_chart, first, last) =>
            kind === "bars" ? [first - HALF_DAY_S, last + HALF_DAY_S] : [Math.min(first, last - MIN_SPAN_S), last],
        },
        y: { range: (_chart, _low, high) => [0, top ?? Math.max(least, (high || 0) * 1.1)] },
      },
      axes: [
        {
          ...{ stroke: axis, grid: { show: false }, ticks: line, size: 32, space: 70 },
          values: (_chart, ticks) => ticks.map(formatTime),
        },
        {
          ...{ stroke: axis, grid: line, ticks: { show: false }, size: 58, space: 32 },
          ...(isWhole ? { incrs: INTEGER_STEPS } : {}),
          values: (_chart, ticks) => ticks.map(format),
        },
      ],
      series: [
        {},
        ...series.map(({ label, stroke, dash }) => ({
          label,
          stroke,
          width: 2,
          dash,
          points: { show: false },
          ...(kind === "bars" && bars !== undefined ? { paths: bars, fill: stroke, width: 0, dash: [] } : {}),
        })),
      ],
    },
    [[], ...series.map(() => [])],
    target,
  );
}
