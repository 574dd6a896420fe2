import { samplesByGroup, type Flame } from "./cpu-profile.ts";

const WIDTH = 1_200;
const ROW = 17;
const HEAD = 58;
const CHARACTER = 6.1;
/** Minimum width of a box. Narrower boxes are left out, because they are unreadable and make the file large. */
const MIN_WIDTH = 2.2;
const MIN_TEXT_WIDTH = 24;
const LEGEND_GROUPS = 9;
const LEGEND_WIDTH = 130;
const GREYS: Readonly<Record<string, string>> = { V8: "#c9c9c9", node: "#b9c6cf", packages: "#d3cbb8" };

/** Draws a flame graph with its base at the top. Each box is as wide as its samples and below its caller. */
export function drawFlameGraph(flame: Flame, title: string): string {
  const groups = [...samplesByGroup(flame)].toSorted(([, a], [, b]) => b - a).map(([group]) => group);
  const colors = new Map(groups.map((group, index) => [group, GREYS[group] ?? colorOf(index)]));
  const boxes: string[] = [];
  let depth = 0;
  const draw = (box: Flame, x: number, row: number): void => {
    const width = (box.samples / flame.samples) * WIDTH;
    if (width < MIN_WIDTH) return;
    depth = Math.max(depth, row);
    boxes.push(
      rectangle(box, { x, row, width, color: colors.get(box.group) ?? "#ccc", share: box.samples / flame.samples }),
    );
    let left = x;
    for (const callee of [...box.callees.values()].toSorted((a, b) => b.samples - a.samples)) {
      draw(callee, left, row + 1);
      left += (callee.samples / flame.samples) * WIDTH;
    }
  };
  draw(flame, 0, 0);
  const height = HEAD + (depth + 1) * ROW + 4;
  const legend = groups.slice(0, LEGEND_GROUPS).map((group, index) => {
    const x = 4 + index * LEGEND_WIDTH;
    return `<rect x="${x}" y="32" width="10" height="10" fill="${colors.get(group)}"/><text x="${x + 14}" y="41" font-size="10">${escape(group)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="4" y="18" font-size="14">${escape(title)}</text>`,
    ...legend,
    `<g transform="translate(0 ${HEAD})" stroke="#fff" stroke-width="0.5">`,
    ...boxes,
    "</g></svg>\n",
  ].join("\n");
}

function rectangle(
  { name, group }: Flame,
  { x, row, width, color, share }: { x: number; row: number; width: number; color: string; share: number },
): string {
  const [left, top] = [x.toFixed(1), row * ROW];
  const label = group === "packages" || group === "node" || group === "V8" ? name : `${group}/${name}`;
  const shown = name.slice(0, Math.floor((width - 4) / CHARACTER));
  const text =
    width < MIN_TEXT_WIDTH
      ? ""
      : `<text x="${(x + 2).toFixed(1)}" y="${top + 12}" stroke="none">${escape(shown)}</text>`;
  return `<g><title>${escape(label)}: ${(share * 100).toFixed(1)} %</title><rect x="${left}" y="${top}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${color}"/>${text}</g>`;
}

/** Returns the colour of a group. The golden angle gives neighbours in the legend the most different colours. */
const colorOf = (index: number): string => `hsl(${Math.round(index * 137.5) % 360} 65% 72%)`;

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
