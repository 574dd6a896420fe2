import type { Command } from "commander";
import type { CargoLine } from "../../../coordinator/operators/operator-cargos.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { fixed, flexible } from "../../../shared/cli/text-table.ts";
import { addCargoAddCommand } from "./cargo-add-command.ts";
import { addCargoApprovalCommands } from "./cargo-approval-commands.ts";
import { addCargoImportCommand } from "./cargo-import-command.ts";
import { addCargoSignCommand } from "./cargo-sign-command.ts";
import type { CommandTools } from "./command-tools.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import type { DataOptions } from "./data-commands.ts";
import { describePrice } from "./describe-cargo.ts";
import { commandActor, listOf, withCargos } from "./operator-tools.ts";

/** Adds the commands of `coordinator cargo`. A running coordinator applies changes within a second. */
export function addCargoCommands(program: Command, tools: CommandTools): void {
  const { addDataOptions, print } = tools;
  const cargo = program.command("cargo").description("Manage shipped and imported Cargos, and those of accounts");
  addDataOptions(cargo.command("list"))
    .description("List all Cargos with their status")
    .option("--waiting", "list only Cargos that wait for approval")
    .action(async (options: DataOptions & { waiting?: true }) => {
      await withCargos(options, async (cargos, store) => {
        const all = await cargos.list();
        const lines = options.waiting === true ? all.filter(({ status }) => status === "waiting") : all;
        const owners = await emailsOf(store, lines);
        const listed = lines.map((line) => ({ ...line, owner: owners.get(line.ownerId ?? "") ?? null }));
        const text = listOf(COLUMNS, listed.map(rowOf), { none: "No Cargos" });
        print(options, listed, text);
      });
    });
  addCargoSignCommand(cargo);
  addCargoApprovalCommands(cargo, tools);
  addDataOptions(cargo.command("disable <slug>"))
    .description("Disable a Cargo for all accounts; its waiting jobs fail, its running jobs continue")
    .action(async (slug: string, options: DataOptions) => {
      await withCargos(options, async (cargos) => {
        await cargos.setDisabled(commandActor(), slug, true);
        print(options, { slug, disabled: true }, `${slug} is disabled`);
      });
    });
  addDataOptions(cargo.command("enable <slug>"))
    .description("Enable a disabled Cargo, without approving it")
    .action(async (slug: string, options: DataOptions) => {
      await withCargos(options, async (cargos) => {
        await cargos.setDisabled(commandActor(), slug, false);
        print(options, { slug, disabled: false }, `${slug} is no longer disabled`);
      });
    });
  addDataOptions(cargo.command("price <slug> [credits]"))
    .description("Show the price of a shipped Cargo, or set it for new jobs")
    .option("--reset", "restore the shipped price")
    .action(async (slug: string, credits: string | undefined, options: DataOptions & { reset?: true }) => {
      if (credits !== undefined && options.reset === true)
        throw new UsageError("A price and --reset cannot be combined. Give one of them");
      await withCargos(options, async (cargos) => {
        const isChange = credits !== undefined || options.reset === true;
        const review = isChange
          ? await cargos.setPrice(commandActor(), slug, readPrice(credits))
          : await cargos.review(slug);
        const shipped = review.origin === "shipped" ? review.file.price_per_job : null;
        const value = { slug, price_per_job: review.price, shipped_price_per_job: shipped };
        print(options, value, `${slug}: ${describePrice(review)}`);
      });
    });
  addCargoAddCommand(cargo, tools);
  addCargoImportCommand(cargo, tools);
}

/** Reads the price; null for the shipped one. @throws {UsageError} */
function readPrice(credits: string | undefined): number | null {
  if (credits === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(credits)) return Number(credits);
  throw new UsageError(`The price must be a number such as 0.05, got ${JSON.stringify(credits)}`);
}

async function emailsOf(store: Store, lines: readonly CargoLine[]): Promise<ReadonlyMap<string, string>> {
  const emails = new Map<string, string>();
  for (const { ownerId } of lines) {
    if (ownerId === null || emails.has(ownerId)) continue;
    emails.set(ownerId, (await store.accounts.get(ownerId))?.email ?? ownerId);
  }
  return emails;
}

const COLUMNS = [
  flexible("CARGO"),
  fixed("STATUS"),
  fixed("RUNTIME"),
  flexible("FROM"),
  fixed("REVISION"),
  fixed("NOTE"),
];

function rowOf(line: CargoLine & { owner: string | null }): string[] {
  const { slug, status, origin, runtimeType, owner, revision, isPinned } = line;
  const note = isPinned === false ? "not pinned" : "";
  return [slug, status, runtimeType ?? "?", owner ?? origin, revision === null ? "" : `${revision}`, note];
}
