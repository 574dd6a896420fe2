import { Option, type Command } from "commander";
import { STANDINGS, type StandingState } from "../../../coordinator/credits/standing.ts";
import { MAX_REASON_CHARS } from "../../../coordinator/operators/operator-accounts.ts";
import { operatorStandings, type OperatorStandings } from "../../../coordinator/operators/operator-standings.ts";
import type { KnownStanding } from "../../../coordinator/store/audits.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { fixed, flexible } from "../../../shared/cli/text-table.ts";
import { print } from "../terminal/print.ts";
import { accountIdOf, addDataOptions, type DataOptions } from "./data-commands.ts";
import {
  addPageOptions,
  age,
  commandActor,
  isoTime,
  listOf,
  readLine,
  readPage,
  trailOf,
  withCargos,
  type PageOptions,
} from "./operator-tools.ts";

const COLUMNS = [
  fixed("STATE"),
  flexible("E-MAIL"),
  flexible("CARGO"),
  fixed("IN A ROW"),
  fixed("CHANGED"),
  flexible("REASON"),
];

interface SetOptions extends DataOptions {
  readonly email: string;
  readonly cargo: string;
  readonly state: StandingState;
  readonly reason: string;
}

/** Adds `coordinator standing list|set`. Running coordinators apply a change within a second. */
export function addStandingCommands(standing: Command): void {
  addPageOptions(standing.command("list"))
    .description(
      "List the standings of owners with Cargos, the latest change first. Owners that are not listed are new",
    )
    .option("--email <address>", "list only standings of this account")
    .addOption(new Option("--state <state>", "list only standings in this state").choices(STANDINGS))
    .action((options: PageOptions & { email?: string; state?: StandingState }) =>
      withCargos(options, async (_, store) => {
        const { email, state } = options;
        const accountId = email === undefined ? undefined : await accountIdOf(store, email);
        const { standings, total } = await standingsOf(store, () => true).list({ accountId, state }, readPage(options));
        const rows = standings.map(({ standing: { state: name, streak, reason }, ...each }) => [
          name,
          each.email ?? each.ownerAccountId,
          each.slug,
          `${streak}`,
          age(each.changedAtMs),
          reason ?? "",
        ]);
        print(
          options,
          { standings: standings.map(present), total },
          listOf(COLUMNS, rows, { total, none: "No standings" }),
        );
      }),
    );
  addDataOptions(standing.command("set"))
    .description(
      "Set the standing of an owner with a Cargo: pay its held earnings, or refund its clients in quarantine",
    )
    .requiredOption("--email <address>", "the owner's e-mail address")
    .requiredOption("--cargo <slug>", "the Cargo")
    .addOption(new Option("--state <state>", "the new state").choices(STANDINGS).makeOptionMandatory())
    .requiredOption("--reason <text>", "reason that is shown to the owner", readLine(MAX_REASON_CHARS))
    .action((options: SetOptions) =>
      withCargos(options, async (cargos, store) => {
        const { email, cargo, state, reason } = options;
        const id = await accountIdOf(store, email);
        const isKnown = await cargos.review(cargo).then(() => true, noCargo);
        const stored = await standingsOf(store, () => isKnown).set(commandActor(), id, cargo, { state, reason });
        print(options, present(stored), `${email} is ${state} with ${cargo}`);
      }),
    );
}

function standingsOf(store: Store, isCargo: (slug: string) => boolean): OperatorStandings {
  return operatorStandings(store, trailOf(store), systemClock, isCargo);
}

function noCargo(error: unknown): false {
  if (error instanceof ServiceError && error.code === "cargo_not_found") return false;
  throw error;
}

function present({ ownerAccountId, email, slug, standing, changedAtMs }: KnownStanding) {
  const { state, streak, reason } = standing;
  const account = { account_id: ownerAccountId, account_email: email === "" ? null : email };
  return { ...account, cargo: slug, state, streak, reason, changed_at: isoTime(changedAtMs) };
}
