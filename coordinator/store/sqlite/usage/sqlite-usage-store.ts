import { assertPage } from "../../page.ts";
import type { UsageReport, UsageStore } from "../../usage-store.ts";
import type { Reader } from "../engine/reader.ts";
import type { Writer } from "../engine/writer.ts";

export class SqliteUsageStore implements UsageStore {
  readonly #reader: Pick<Reader, "run">;
  readonly #writer: Pick<Writer, "run">;

  constructor(reader: Pick<Reader, "run">, writer: Pick<Writer, "run">) {
    this.#reader = reader;
    this.#writer = writer;
  }

  async read(...[accountId, filter, groups, page]: Parameters<UsageStore["read"]>): Promise<UsageReport> {
    assertPage(page);
    return this.#reader.run("usage", { accountId, filter, groups, page });
  }

  sumUp(limit: number): Promise<boolean> {
    return this.#writer.run("sumUpUsage", { limit });
  }

  forgetDays(beforeDay: number, limit: number): Promise<number> {
    return this.#writer.run("forgetUsage", { beforeDay, limit });
  }
}
