import { formatNumber } from "./format-number.ts";
import { summarize } from "./statistics.ts";

/** Plot of figures over a growing load, with one panel for each figure and one line for each variant. */
export interface LinePlot {
  /** Name of the plot and its file. */
  readonly name: string;
  readonly title: string;
  /** X axis: the load that is varied. */
  readonly x: { readonly label: string; readonly values: readonly number[]; readonly isLinear?: boolean };
  readonly panels: readonly Panel[];
}
export interface Panel {
  readonly label: string;
  readonly lines: readonly PlotLine[];
}
export interface PlotLine {
  readonly name: string;
  /** Values of all runs at each x. */
  readonly points: readonly (readonly number[])[];
}

const PANEL = { width: 300, height: 180, left: 58, right: 12, top: 44, bottom: 44 };
const COLOURS = ["#0b6e99", "#d9730d", "#6c757d", "#a3195b", "#2b7a0b", "#7048e8", "#b08900"];
/** Names of lines in one row of the legend. */
const NAMES_A_ROW = 4;
const NAMES_ROW_HEIGHT = 14;
const TICKS = 4;
const MAX_MARKS = 8;

/** Draws an SVG with the medians as a line, and a bar from the lowest to the highest run. */
export function drawLinePlot({ title, x, panels }: LinePlot): string {
  const step = PANEL.left + PANEL.width + PANEL.right;
  const lines = Math.max(...panels.map((panel) => panel.lines.length));
  const furtherRows = Math.ceil(lines / NAMES_A_ROW) - 1;
  const height = PANEL.top + PANEL.height + PANEL.bottom + 18 + furtherRows * NAMES_ROW_HEIGHT;
  const width = step * panels.length;
  const parts = panels.map((panel, index) => drawPanel(panel, x, step * index + PANEL.left));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${width / 2}" y="16" text-anchor="middle" font-size="13">${escape(title)}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function drawPanel({ label, lines }: Panel, x: LinePlot["x"], left: number): string {
  const highest = Math.max(...lines.flatMap(({ points }) => points.flat()), Number.MIN_VALUE);
  const places = x.values.map((value) => (x.isLinear ? value : Math.log10(value)));
  const [from, to] = [Math.min(...places), Math.max(...places)];
  const atX = (index: number): number =>
    left + (to === from ? PANEL.width / 2 : (((places[index] as number) - from) / (to - from)) * PANEL.width);
  const atY = (value: number): number => PANEL.top + PANEL.height * (1 - value / (highest * 1.05));
  const grid = Array.from({ length: TICKS + 1 }, (_, tick) => (highest * tick) / TICKS).map(
    (value) =>
      `<line x1="${left}" x2="${left + PANEL.width}" y1="${at(atY(value))}" y2="${at(atY(value))}" stroke="#ddd"/>` +
      `<text x="${left - 6}" y="${at(atY(value) + 4)}" text-anchor="end">${formatNumber(value)}</text>`,
  );
  const bottom = PANEL.top + PANEL.height;
  const marks = x.values.flatMap((value, index) =>
    index % Math.ceil(x.values.length / MAX_MARKS) > 0
      ? []
      : [`<text x="${at(atX(index))}" y="${bottom + 15}" text-anchor="middle">${formatNumber(value)}</text>`],
  );
  return [
    ...grid,
    ...marks,
    `<text x="${left + PANEL.width / 2}" y="${bottom + 31}" text-anchor="middle">${escape(x.label)}</text>`,
    `<text x="${left}" y="${PANEL.top - 10}">${escape(label)}</text>`,
    ...lines.map((line, index) => drawLine(line, COLOURS[index % COLOURS.length] as string, atX, atY)),
    ...lines.map(({ name }, index) => {
      const nameWidth = PANEL.width / Math.max(3.3, Math.min(NAMES_A_ROW, lines.length));
      const x = left + (index % NAMES_A_ROW) * nameWidth;
      const y = Math.floor(index / NAMES_A_ROW) * NAMES_ROW_HEIGHT;
      return `<text x="${at(x)}" y="${bottom + 48 + y}" fill="${COLOURS[index % COLOURS.length]}">■ ${escape(name)}</text>`;
    }),
  ].join("\n");
}

function drawLine(
  { points }: PlotLine,
  colour: string,
  atX: (index: number) => number,
  atY: (value: number) => number,
): string {
  const all = points.map((values) => summarize(values));
  const path = all.map(({ median }, index) => `${at(atX(index))},${at(atY(median))}`).join(" ");
  const bars = all.map(
    ({ min, max }, index) =>
      `<line x1="${at(atX(index))}" x2="${at(atX(index))}" y1="${at(atY(min))}" y2="${at(atY(max))}" stroke="${colour}" stroke-width="3" opacity="0.4"/>`,
  );
  const dots = all.map(
    ({ median }, index) => `<circle cx="${at(atX(index))}" cy="${at(atY(median))}" r="2.5" fill="${colour}"/>`,
  );
  return [`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`, ...bars, ...dots].join(
    "\n",
  );
}

const at = (value: number): string => value.toFixed(1);
const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
