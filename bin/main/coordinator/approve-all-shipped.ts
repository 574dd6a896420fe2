import type { Command } from "commander";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { purposeOf } from "../../../coordinator/catalog/model-kind.ts";
import type { CargoReview, OperatorCargos } from "../../../coordinator/operators/operator-cargos.ts";
import { resolvePins, UnpinnedError, type PinSources } from "../../../coordinator/catalog/pin-lookup/resolve-pins.ts";
import { CliError, ServiceError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { fixed, flexible } from "../../../shared/cli/text-table.ts";
import { askYes } from "../terminal/ask-again.ts";
import { coordinatorName, givenFlags } from "../terminal/command-line.ts";
import { print } from "../terminal/print.ts";
import { commandActor, listOf } from "./operator-tools.ts";

/** Maximum number of Cargos that are looked up at the same time. */
const MAX_CONCURRENCY = 6;
/** Time limit for the look-up of one Cargo. */
const LOOKUP_LIMIT_MS = 15_000;
const COLUMNS = [flexible("CARGO"), flexible("FOR"), fixed("SIZE"), flexible("FROM"), flexible("LICENCE")];

interface AllShipped {
  readonly cargos: OperatorCargos;
  readonly sources: PinSources;
  readonly options: { readonly json?: true; readonly yes?: true };
  readonly command: Command;
}

interface Outcome {
  readonly slug: string;
  /** Null if the Cargo was not approved. */
  readonly revision: string | null;
  readonly problem: string | null;
}

/**
 * Runs `coordinator cargo approve --all-shipped`: lists the shipped Cargos that are off, asks for one confirmation,
 * then looks up the pin of each Cargo and approves it. If a Cargo fails, the others are still approved. @throws
 * {CliError} if a Cargo failed, or if there is no terminal to ask for confirmation.
 */
export async function approveAllShipped({ cargos, sources, options, command }: AllShipped): Promise<void> {
  const off = (await cargos.list()).filter(({ origin, status }) => origin === "shipped" && status === "unpinned");
  const reviews = await Promise.all(off.map(({ slug }) => cargos.review(slug)));
  if (reviews.length === 0)
    return print(options, { approved: [], failed: [] }, "All shipped Cargos are already available");
  const list = listOf(COLUMNS, reviews.map(rowOf), { none: "", total: reviews.length });
  // With --json, standard output contains only the result.
  if (options.json === true) console.error(list);
  else console.log(list);
  await assertConfirmed(reviews.length, options, command);
  const actor = commandActor();
  const approve = async (review: CargoReview): Promise<Outcome> => {
    const { slug } = review.file;
    try {
      const file = await resolvePins(review.file, {}, sources, AbortSignal.timeout(LOOKUP_LIMIT_MS));
      const { revision } = await cargos.approveReviewed(actor, review, file);
      return { slug, revision, problem: null };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { slug, revision: null, problem: error instanceof UnpinnedError ? error.reason : error.message };
    }
  };
  const outcomes: Outcome[] = [];
  const remaining = [...reviews];
  const approveNext = async (): Promise<void> => {
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- Each worker approves its Cargos one after the other.
      const outcome = await approve(next);
      outcomes.push(outcome);
      if (options.json !== true) print(options, outcome, describeOutcome(outcome));
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENCY }, approveNext));
  report(outcomes, options);
}

/** @throws {CliError} unless the operator answers yes or gave --yes. */
async function assertConfirmed(count: number, options: AllShipped["options"], command: Command): Promise<void> {
  if (options.yes === true) return;
  if (process.stdin.isTTY) {
    if (await askYes(`Look up the files of these ${count} Cargos, sign them and make them available to all accounts?`))
      return;
    throw new CliError("No Cargo was approved");
  }
  const retryCommand = `${coordinatorName()} cargo approve${givenFlags(command)} --yes`;
  throw new CliError(
    `No Cargo was approved, because standard input is not a terminal and cannot confirm the approvals. To approve all Cargos listed above, run: ${retryCommand}`,
  );
}

function describeOutcome({ slug, problem }: Outcome): string {
  return problem === null ? `${slug} is available to all accounts` : `${slug} is still off: ${problem}`;
}

/** @throws {CliError} if a Cargo was not approved. */
function report(outcomes: readonly Outcome[], options: AllShipped["options"]): void {
  const approved = outcomes.flatMap(({ slug, revision }) => (revision === null ? [] : [{ slug, revision }]));
  const failed = outcomes.flatMap(({ slug, problem }) => (problem === null ? [] : [{ slug, problem }]));
  if (options.json === true) print(options, { approved, failed }, "");
  if (failed.length === 0)
    return print({}, null, options.json === true ? "" : `${approved.length} Cargos are available`);
  const name = coordinatorName();
  const text =
    `${failed.length} of ${outcomes.length} Cargos are still off. Run the command again when their hosts are reachable, give a mirror of the hub with --hub, ` +
    `or pin each Cargo yourself: ${name} cargo approve --help`;
  if (options.json !== true) throw new CliError(text);
  console.error(text);
  process.exitCode = 1;
}

function rowOf({ file }: CargoReview): string[] {
  const size = file.model?.size_bytes ?? null;
  return [file.slug, purposeOf(file), size === null ? "unknown" : formatBytes(size), sourceOf(file), file.licence];
}

const sourceOf = ({ container, model }: CargoFile): string => container?.image ?? model?.url ?? "";
