import type { ReadChange } from "../../events/event-reader.ts";
import type { HttpDeps } from "../http-deps.ts";
import {
  presentAccountChange,
  presentBalance,
  presentIslandChange,
  presentJobChange,
  type AccountEvent,
} from "../schemas/account-event-schemas.ts";

/** Turns what changed for an account into events, for one reader. Islands and the balance are read as they are now. */
export class AccountEventEncoder {
  readonly #deps: Pick<HttpDeps, "islands" | "store">;
  readonly #accountId: string;
  /** In micro-credits, as the reader knows it; null before the first look. */
  #balance: number | null = null;

  constructor(deps: Pick<HttpDeps, "islands" | "store">, accountId: string) {
    this.#deps = deps;
    this.#accountId = accountId;
  }

  async encode(read: readonly ReadChange[]): Promise<string> {
    const hostIds = read.flatMap(({ change }) => (change.type === "island" ? [change.id] : []));
    const islands = hostIds.length === 0 ? [] : await this.#deps.islands.some(this.#accountId, hostIds);
    const byId = new Map(islands.map((island) => [island.record.hostId, island]));
    let text = "";
    for (const { change, position } of read) {
      if (change.type === "job") text += frame(presentJobChange(change), position);
      else if (change.type === "balance") text += await this.balance(position);
      else if (change.type === "account") text += await this.#account(position);
      else {
        const island = byId.get(change.id);
        const removed = { type: "island_removed", id: change.id } as const;
        text += frame(island === undefined ? removed : presentIslandChange(island), position);
      }
    }
    return text;
  }

  /** The balance, if it is another one than the reader knows; "" for the first look. */
  async balance(position: string): Promise<string> {
    const account = await this.#deps.store.accounts.get(this.#accountId);
    const before = this.#balance;
    this.#balance = account?.balanceMicro ?? before;
    return before === null || before === this.#balance ? "" : frame(presentBalance(this.#balance ?? 0), position);
  }

  /** "" for one that was deleted. */
  async #account(position: string): Promise<string> {
    const account = await this.#deps.store.accounts.get(this.#accountId);
    if (account === undefined) return "";
    this.#balance = account.balanceMicro;
    return frame(presentAccountChange(account), position);
  }
}

/** One event. JSON text has no line break, so one `data:` line is enough. */
export function frame(event: AccountEvent, position: string): string {
  return `id: ${position}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
