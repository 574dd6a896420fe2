/**
 * Deliveries that are due, in a line for each account. Accounts take turns, and none has more than its part under way, so that
 * one with slow receivers does not hold up the others.
 */
export class DeliveryQueue {
  readonly #maxInAll: number;
  readonly #maxPerAccount: number;
  /** Accounts with at least one delivery that is due, the one whose turn it is first. */
  readonly #lines = new Map<string, string[]>();
  readonly #active = new Map<string, number>();
  #activeInAll = 0;

  constructor(maxInAll: number, maxPerAccount: number) {
    this.#maxInAll = maxInAll;
    this.#maxPerAccount = maxPerAccount;
  }

  push(accountId: string, id: string): void {
    const line = this.#lines.get(accountId);
    if (line === undefined) this.#lines.set(accountId, [id]);
    else line.push(id);
  }

  /** Takes the next that may begin; undefined when there is none. `release` must follow when it is over. */
  take(): { readonly accountId: string; readonly id: string } | undefined {
    if (this.#activeInAll >= this.#maxInAll) return undefined;
    for (const [accountId, line] of this.#lines) {
      const active = this.#active.get(accountId) ?? 0;
      if (active >= this.#maxPerAccount) continue;
      const id = line.shift();
      this.#lines.delete(accountId);
      if (id === undefined) continue;
      if (line.length > 0) this.#lines.set(accountId, line);
      this.#active.set(accountId, active + 1);
      this.#activeInAll += 1;
      return { accountId, id };
    }
    return undefined;
  }

  release(accountId: string): void {
    const active = (this.#active.get(accountId) ?? 0) - 1;
    if (active > 0) this.#active.set(accountId, active);
    else this.#active.delete(accountId);
    this.#activeInAll -= 1;
  }
}
