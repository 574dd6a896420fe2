/**
 * Due deliveries, with a queue for each account. Accounts take turns, and each has a limited number in progress, so that an account
 * with slow receivers does not delay the others.
 */
export class DeliveryQueue {
  readonly #maxInAll: number;
  readonly #maxPerAccount: number;
  /** Accounts with due deliveries, in order of their turns. */
  readonly #queues = new Map<string, string[]>();
  readonly #active = new Map<string, number>();
  #activeInAll = 0;

  constructor(maxInAll: number, maxPerAccount: number) {
    this.#maxInAll = maxInAll;
    this.#maxPerAccount = maxPerAccount;
  }

  push(accountId: string, id: string): void {
    const queue = this.#queues.get(accountId);
    if (queue === undefined) this.#queues.set(accountId, [id]);
    else queue.push(id);
  }

  /** Takes the next delivery that may begin; undefined if there is none. Call `release` when it is over. */
  take(): { readonly accountId: string; readonly id: string } | undefined {
    if (this.#activeInAll >= this.#maxInAll) return undefined;
    for (const [accountId, queue] of this.#queues) {
      const active = this.#active.get(accountId) ?? 0;
      if (active >= this.#maxPerAccount) continue;
      const id = queue.shift();
      this.#queues.delete(accountId);
      if (id === undefined) continue;
      if (queue.length > 0) this.#queues.set(accountId, queue);
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
