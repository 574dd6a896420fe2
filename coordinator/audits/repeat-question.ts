import { SEEDED_FEATURE } from "../../shared/features/cargo-features.ts";
import { MIB } from "../../shared/format-bytes.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { Checks } from "../checks/checks.ts";
import type { Likeness } from "../checks/likeness.ts";
import type { Evidence, Verdict } from "../credits/standing.ts";
import type { Audit } from "../store/audits.ts";
import type { JobRecord } from "../store/jobs/job-store.ts";
import { LargeJson } from "../store/jobs/large-json.ts";
import type { Store } from "../store/store.ts";
import { needsSeed } from "./audit-kinds.ts";
import { FAILED_BY_INPUT, type Question } from "./question.ts";
import type { Readers } from "./readers.ts";
import { chargesTooMuch } from "./reading.ts";
import { READ_LIMIT_MS } from "./reading-question.ts";

/** Maximum bytes of the input, and maximum characters of the JSON of a result. Larger jobs are not repeated. */
export const MAX_REPEATED_BYTES = 4 * MIB;
/** Under this name, comparisons use the time of the thread for checks. */
const CHECKED_FOR = "audits";

const VERDICTS: Readonly<Record<Likeness, Verdict>> = {
  same: "consistent",
  unsure: "unclear",
  different: "inconsistent",
};

/**
 * Returns the question whether another Island gets the same result from a job's input. Null if there is no result, or
 * several Islands made it.
 * @param evidenceOf Returns the evidence about the owner of the answer, which repeats do not change.
 */
export async function repeatQuestion(
  jobs: Pick<Store["jobs"], "get" | "feed" | "input">,
  checks: Pick<Checks, "results">,
  readers: Pick<Readers, "hasFeature">,
  { jobId, chargedMicro }: Audit,
  cargo: CatalogEntry,
  evidenceOf: () => Evidence,
): Promise<Question | null> {
  const record = await jobs.get(jobId);
  if (record === undefined || record.inputRemovedAtMs !== null || record.outputRemovedAtMs !== null) return null;
  const answer = await resultOf(jobs, record);
  if (answer === null) return null;
  const isExact = cargo.runtimeType === "wasm";
  const before: string[] = [];
  return {
    input: await jobs.input(jobId),
    limitMs: READ_LIMIT_MS + cargo.runLimitMs,
    lie: "got another result from the same input",
    async judge(done, reader) {
      const { id, state, error, usage, islandId } = done;
      if (needsSeed(cargo) && (islandId === null || !readers.hasFeature(islandId, SEEDED_FEATURE))) {
        return { problem: "its agent draws other random bytes in each run" };
      }
      const evidence = evidenceOf();
      const found = { jobId: id, ownerAccountId: reader, surprise: null };
      if (error !== null && FAILED_BY_INPUT.has(error.code)) {
        return { reading: { ...found, verdict: "unclear" }, evidence, likeness: before.map(() => "unsure") };
      }
      const result = await resultOf(jobs, done);
      if (result === null) return { problem: `its job is ${state}, or its result is too large` };
      const compare = (other: string): Promise<Likeness> => checks.results(CHECKED_FOR, other, result, isExact);
      const counts = { prompt_tokens: usage?.promptTokens ?? 0, tokens: usage?.completionTokens ?? 0 };
      const isOvercharged = chargesTooMuch(chargedMicro, record, counts);
      const verdict = isOvercharged ? "inconsistent" : VERDICTS[await compare(answer)];
      const likeness = await Promise.all(before.map(compare));
      before.push(result);
      return { reading: { ...found, verdict }, evidence, likeness };
    },
  };
}

/** Returns the JSON of a job's result and feed; null for a missing or large result, and for one of several Islands. */
async function resultOf(jobs: Pick<Store["jobs"], "feed">, record: JobRecord): Promise<string | null> {
  if (record.state !== "completed") return null;
  const parts = await jobs.feed(record.id);
  const items = parts.flatMap(({ attempt, items: some }) => some.map((item) => ({ attempt, item })));
  const made = items.filter(({ item }) => item.type === "token" || item.type === "image");
  if (made.some(({ attempt }) => attempt !== record.attempt)) return null;
  const text = made.map(({ item }) => (item.type === "token" ? item.content : "")).join("");
  const values = made.flatMap(({ item }) => (item.type === "image" ? [item.data] : []));
  const sizes = [text, record.output, ...values].map(sizeOf);
  if (sizes.reduce((sum, size) => sum + size, 0) > MAX_REPEATED_BYTES) return null;
  const images: string[] = [];
  // One value after the other, so that storage has few requests at once.
  // oxlint-disable-next-line no-await-in-loop
  for (const value of values) images.push(await jsonOf(value));
  const output = await jsonOf(record.output);
  return `{"output":${output},"text":${JSON.stringify(text)},"images":[${images.join(",")}]}`;
}

/** Returns the size of a value in characters. Values in the record itself are small. */
function sizeOf(value: unknown): number {
  if (value instanceof LargeJson) return value.chars;
  return typeof value === "string" ? value.length : 0;
}

/** Returns JSON without parsing the large text that is in storage. */
async function jsonOf(value: unknown): Promise<string> {
  if (!(value instanceof LargeJson)) return JSON.stringify(value ?? null);
  let json = "";
  for await (const piece of value.pieces()) json += piece;
  return json;
}
