import type { LiarsResult } from "./run-liars.ts";

/** Formats a run as tables of lies, jobs, errors, Islands, memory and response times. */
export function describeRun({ history, islands, memoryMb, responsesMs }: LiarsResult): string {
  const { records, lies } = history;
  const done = records.filter(({ ending }) => ending === "done");
  const empty = done.filter(({ text, expected }) => text === "" && expected !== null).length;
  const codes = countBy(records.map(({ errorCode }) => errorCode).filter((code) => code !== null));
  const told = [...lies].toSorted(([a], [b]) => a.localeCompare(b));
  const mean = (isHonest: boolean): number => {
    const earned = islands.filter((each) => each.isHonest === isHonest).map((each) => each.earned);
    return earned.reduce((sum, each) => sum + each, 0) / earned.length;
  };
  const worst = Math.min(...islands.filter(({ isHonest }) => isHonest).map(({ earned }) => earned));
  const best = Math.max(...islands.filter(({ isHonest }) => !isHonest).map(({ earned }) => earned));
  return [
    section("Lies", told),
    section("Jobs", [...countBy(records.map(({ operation }) => operation))]),
    section("Ends", [
      ["correct result", done.length - empty],
      ["empty result, free, confirmed by a second Island", empty],
      ...[...codes].map(([code, count]) => [`error ${code}`, count] as const),
    ]),
    "Islands: attempts, credits earned, quarantines, sessions ended",
    ...islands.map(
      ({ name, attempts, earned, quarantines, drops }) =>
        `  ${name.padEnd(10)} ${column(attempts)} ${column(earned.toFixed(4))} ${column(quarantines)} ${column(drops)}`,
    ),
    `  mean of the honest ${mean(true).toFixed(4)}, of the liars ${mean(false).toFixed(4)}`,
    `  the best paid liar earned ${percent(best, worst)} of the worst paid honest Island, ${percent(best, mean(true))} of their mean`,
    `Coordinator: memory in MB, p50 ${memoryMb.p50}, max ${memoryMb.max}`,
    `GET /account in ms: p50 ${responsesMs.p50}, p99 ${responsesMs.p99}, max ${responsesMs.max}`,
    `Jobs in ms: max ${Math.round(Math.max(...records.map(({ tookMs }) => tookMs)))}`,
  ].join("\n");
}

function section(title: string, rows: readonly (readonly [string, number])[]): string {
  const sum = rows.reduce((total, [, count]) => total + count, 0);
  return [`${title} (${sum})`, ...rows.map(([name, count]) => `  ${column(count)} ${name}`)].join("\n");
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const column = (value: number | string): string => String(value).padStart(9);
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
