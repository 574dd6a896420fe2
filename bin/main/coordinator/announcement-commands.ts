import { InvalidArgumentError, type Command } from "commander";
import { MAX_ANNOUNCEMENT_CHARS } from "../../../coordinator/operators/announcements.ts";
import { fixed, flexible } from "../../../shared/cli/text-table.ts";
import { addDataOptions, type DataOptions } from "./data-commands.ts";
import { commandActor, isoTime, isoTimeOrNull, listOf, readLine, withOperators } from "./operator-tools.ts";
import { print } from "../terminal/print.ts";

/** Adds `coordinator announcement list|add|remove`. */
export function addAnnouncementCommands(announcement: Command): void {
  addDataOptions(announcement.command("list"))
    .description("List announcements, newest first")
    .action((options: DataOptions) =>
      withOperators(options, async ({ announcements }) => {
        const shown = (await announcements.list()).map(({ id, level, text, createdAtMs, untilMs }) => {
          return { id, level, text, created_at: isoTime(createdAtMs), until: isoTimeOrNull(untilMs) };
        });
        const columns = [fixed("ANNOUNCEMENT"), fixed("LEVEL"), fixed("UNTIL"), flexible("TEXT")];
        const rows = shown.map(({ id, level, text, until }) => [id, level, until ?? "", text]);
        print(options, shown, listOf(columns, rows, { none: "No announcements" }));
      }),
    );
  addDataOptions(announcement.command("add"))
    .description("Add an announcement")
    .requiredOption("--text <text>", "text of the announcement, one line", readLine(MAX_ANNOUNCEMENT_CHARS))
    .option("--warning", "show it as a warning instead of information")
    .option(
      "--until <time>",
      "time at which the announcement expires, for example 2026-12-31T22:00:00Z (default: until it is removed)",
      readTime,
    )
    .action((options: DataOptions & { text: string; warning?: true; until?: number }) =>
      withOperators(options, async ({ announcements }) => {
        const { text, warning, until: untilMs = null } = options;
        const level = warning === true ? "warning" : "info";
        const { id } = await announcements.add(commandActor(), { level, text, untilMs });
        print(options, { id, level, text, until: isoTimeOrNull(untilMs) }, id);
      }),
    );
  addDataOptions(announcement.command("remove <id>"))
    .description("Remove an announcement")
    .action((id: string, options: DataOptions) =>
      withOperators(options, async ({ announcements }) => {
        await announcements.remove(commandActor(), id);
        print(options, { id, removed: true }, `Removed ${id}`);
      }),
    );
}

function readTime(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError("It must be a time such as 2026-12-31T22:00:00Z.");
  return ms;
}
