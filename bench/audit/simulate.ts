import { parseArgs } from "node:util";
import { RESULT_NAMES } from "../benches.ts";
import type { Bench, Figure } from "../harness/bench.ts";
import { runBench } from "../harness/run-bench.ts";
import { writeResults } from "../harness/results.ts";
import { simulate, type KindFigures, type SimulationOptions, type SimulationResult } from "./simulation.ts";
import { runUnchecked, type UncheckedResult } from "./unchecked.ts";

/*
 * `npm run bench:audit` simulates a network with liars in virtual time, with the coordinator's code of audits, standings and
 * the ledger. It writes RESULTS.md, except with options, which only print.
 */

const { values } = parseArgs({
  options: {
    jobs: { type: "string" },
    islands: { type: "string" },
    owners: { type: "string" },
    hours: { type: "string" },
    trusted: { type: "string" },
    seed: { type: "string" },
  },
});
const options: SimulationOptions = {
  seed: Number(values.seed ?? 1),
  jobs: Number(values.jobs ?? 100_000),
  islands: Number(values.islands ?? 1_000),
  owners: Number(values.owners ?? 300),
  hours: Number(values.hours ?? 24),
  trusted: Number(values.trusted ?? 3),
  liars: 0.2,
  provenShare: 0.3,
};

const bench: Bench = {
  name: "audit",
  title: "Audits",
  command: "npm run bench:audit",
  async run({ log }) {
    const result = await simulate(options);
    if (!result.isBalanced) throw new Error("The books are not balanced");
    log("simulated");
    const none = runUnchecked(options, 1);
    const quorum = runUnchecked(options, 2);
    return { figures: figuresOf(result), notes: notesOf(result, none, quorum) };
  },
};

if (Object.keys(values).length > 0) {
  const { figures, notes = [] } = await bench.run({ runs: 1, isQuick: false, log: () => undefined });
  for (const { what, values: measured, unit } of figures) console.log(`${what}: ${measured.join()} ${unit}`);
  console.log(notes.join("\n\n"));
} else {
  await runBench(`${import.meta.dirname}/..`, bench, { runs: 1, isQuick: false });
  await writeResults(`${import.meta.dirname}/..`, RESULT_NAMES);
}

function figuresOf({ any, proven, ...result }: SimulationResult): Figure[] {
  const limit = (what: string, value: number, max: number): Figure => ({
    what,
    unit: "%",
    values: [100 * value],
    budget: { text: `≤ ${max} %`, isMet: ({ median }) => median <= max },
  });
  return [
    limit("Wrong answers that stayed final", any.wrongFinal / any.jobs, 0.5),
    limit("Wrong answers that stayed final, `trust: proven`", proven.wrongFinal / proven.jobs, 0.05),
    limit("Honest Islands that were quarantined", result.honestQuarantined / result.honestIslands, 0.1),
    limit("Readings of proven owners' answers, part of the work of jobs", result.provenAuditShare, 3),
    { what: "All readings, part of the work of jobs", unit: "%", values: [100 * result.auditShare] },
  ];
}

function notesOf(result: SimulationResult, none: UncheckedResult, quorum: UncheckedResult): string[] {
  const percent = (value: number, digits = 2): string => `${(100 * value).toFixed(digits)} %`;
  const count = (value: number): string => value.toLocaleString("en-US");
  const { any, proven, kinds, compute } = result;
  const unchecked = (name: string, { jobs, wrongFinal, withoutResult, compute: work }: UncheckedResult): string =>
    `| ${name} | ${percent(wrongFinal / jobs)} | ${percent(withoutResult / jobs)} | ${work.toFixed(2)} |`;
  const rowOf = ({
    kind,
    islands,
    jobs,
    earned,
    identities,
    quarantined,
    medianLies,
    maxLies,
    final,
  }: KindFigures): string =>
    `| ${kind} | ${islands} | ${count(jobs)} | ${percent(earned, 1)} | ${quarantined} of ${identities} | ${medianLies} · ${maxLies} | ${final} |`;
  return [
    `${count(options.jobs)} jobs in ${options.hours} hours of virtual time, ${count(options.islands)} Islands of ${options.owners} owners, of whom ${percent(options.liars, 0)} lie and an operator trusts ${options.trusted}. ${percent(options.provenShare, 0)} of the jobs ask for \`trust: proven\`, which a filter by standing simulates. Islands answer and read with a toy model. Plans, readers, verdicts, standings and the ledger are the coordinator's code; a job goes to a random free Island.`,
    [
      "| Check | Wrong and final | No result | Work per job |",
      "|---|---|---|---|",
      unchecked("None", none),
      unchecked("Quorum of two (BOINC), a third on disagreement", quorum),
      `| Audits | ${percent(any.wrongFinal / any.jobs)} |  | ${compute.toFixed(2)} |`,
      `| Audits, \`trust: proven\` | ${percent(proven.wrongFinal / proven.jobs)} |  | ${compute.toFixed(2)} |`,
    ].join("\n"),
    [
      "| Islands | Number | Jobs | Earned | Quarantined identities | Lies until then: p50 · max | Wrong and final |",
      "|---|---|---|---|---|---|---|",
      ...kinds.map(rowOf),
    ].join("\n"),
    "Earned: credits of an Island that were paid or are held, divided by those of an honest Island. The work of a reading is its prompt and answer once; an output token of a job counts as four prompt tokens.",
  ];
}
