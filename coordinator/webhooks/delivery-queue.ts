import { Pool } from "../quotas/pool.ts";

/**
 * Due deliveries, with a queue for each account. Accounts take turns, and each has a limited number in progress, so that an account
 * with slow receivers does not delay the others.
 */
export class DeliveryQueue {
  readonly #active: Pool<"all" | "account">;
  /** Accounts with due deliveries, in order of their turns. None is empty. */
  readonly #queues = new Map<string, string[]>();

  constructor(maxInAll: number, maxPerAccount: number) {
    this.#active = new Pool({ all: maxInAll, account: maxPerAccount });
  }

  push(accountId: string, id: string): void {
    const queue = this.#queues.get(accountId);
    if (queue === undefined) this.#queues.set(accountId, [id]);
    else queue.push(id);
  }

  /** Takes the next delivery that may begin; undefined if there is none. Call `release` when it is over. */
  take(): { readonly accountId: string; readonly id: string; readonly release: () => void } | undefined {
    for (const [accountId, queue] of this.#queues) {
      const [id] = queue;
      if (id === undefined) continue;
      const release = this.#active.take([["all"], ["account", accountId]]);
      if (release === "all") return undefined;
      if (release === "account") continue;
      queue.shift();
      this.#queues.delete(accountId);
      if (queue.length > 0) this.#queues.set(accountId, queue);
      return { accountId, id, release };
    }
    return undefined;
  }
}
