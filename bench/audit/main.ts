import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { addReading, isEvidence, judgeReading, verdictOf } from "../../coordinator/audits/evidence.ts";
import { NO_EVIDENCE } from "../../coordinator/credits/standing.ts";
import { checkReading, type Score, scoreReading } from "../../coordinator/audits/reading.ts";
import { chatInputSchema, type ChatRequest, chatRequestOf } from "../../shared/chat-input.ts";
import { type ReadAnswer, readAnswers } from "./answers.ts";

/*
 * Measures what audits find: generates honest and false answers with the demo model in the agent's host process, lets it
 * read them, and prints a Markdown table. docs/internals/audits.md contains the result. `--save FILE` keeps the readings, and
 * `--from FILE` judges them again, after a change of a threshold.
 */

/** Number of readings after which the last column shows how many Islands are inconsistent. */
const FEW = 5;

interface Judged {
  readonly chat: ChatRequest;
  readonly score: Score;
}

function judge({ input, read, output, kind }: ReadAnswer): Judged {
  const reading = checkReading(output, read);
  if ("problem" in reading) throw new Error(`Invalid reading of ${kind}: ${reading.problem}`);
  const chat = chatRequestOf(chatInputSchema.parse(input));
  return { chat, score: scoreReading(reading, chat, read.has_end) };
}

/** Returns whether an Island is inconsistent after these readings, or was earlier. */
function isFound(readings: readonly Judged[]): boolean {
  let evidence = NO_EVIDENCE;
  return readings.some(({ chat, score }) => {
    if (isEvidence(chat)) evidence = addReading(evidence, score);
    return verdictOf(evidence) === "inconsistent";
  });
}

function shareOf<T>(items: readonly T[], matches: (item: T) => boolean): string {
  return `${((100 * items.filter(matches).length) / items.length).toFixed(items.length < 200 ? 0 : 1)} %`;
}

function rowOf(kind: string, all: readonly Judged[]): string {
  const zs = all.map(({ score }) => score.z).toSorted((a, b) => a - b);
  const z = [0.01, 0.5, 0.99].map((share) => (zs[Math.floor(share * zs.length)] ?? 0).toFixed(1)).join(" · ");
  const verdicts = all.map(({ score, chat }) => judgeReading(score, chat));
  const islands = all.map((_, from) =>
    Array.from({ length: FEW }, (__, at) => all[(from + at) % all.length] as Judged),
  );
  const columns = [
    kind,
    String(all.length),
    z,
    shareOf(verdicts, (each) => each === "consistent"),
    shareOf(verdicts, (each) => each === "inconsistent"),
    shareOf(islands, isFound),
  ];
  return `| ${columns.join(" | ")} |`;
}

const { values } = parseArgs({
  options: {
    answers: { type: "string", default: "100" },
    positions: { type: "string", default: "24" },
    save: { type: "string" },
    from: { type: "string" },
  },
});
const { answers, positions, save, from } = values;
const readings =
  from === undefined
    ? await readAnswers(Number(answers), Number(positions))
    : (JSON.parse(await readFile(from, "utf8")) as ReadAnswer[]);
if (save !== undefined) await writeFile(save, JSON.stringify(readings));
const kinds = new Map<string, Judged[]>();
for (const each of readings) {
  kinds.set(each.kind, [...(kinds.get(each.kind) ?? []), judge(each)]);
}
console.log(`| Answer | Readings | z: p1 · p50 · p99 | Consistent | Inconsistent | Inconsistent within ${FEW} |`);
console.log("|---|---|---|---|---|---|");
for (const [kind, all] of kinds) console.log(rowOf(kind, all));
