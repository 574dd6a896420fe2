import { LRUCache } from "lru-cache";

/** Accounts without waiting jobs whose last turn is remembered. A forgotten one counts as new. */
const MAX_IDLE_ACCOUNTS = 10_000;
/** New accounts go before all that were served, in order of arrival. */
const FIRST_NEWCOMER = Number.MIN_SAFE_INTEGER;

/** An account's place in the order of turns, over all Cargos. */
export interface Turn {
  readonly accountId: string;
  /** Lower goes first. Unique. It only grows while the account has waiting jobs. */
  place: number;
  waitingJobs: number;
}

/** The order of accounts: the one served least recently is next. */
export class AccountTurns {
  readonly #waiting = new Map<string, Turn>();
  readonly #idle = new LRUCache<string, Turn>({ max: MAX_IDLE_ACCOUNTS });
  #newcomers = 0;
  #served = 0;

  /** Counts a waiting job of the account. */
  enter(accountId: string): Turn {
    const turn = this.#waiting.get(accountId) ?? this.#idle.get(accountId) ?? this.#newTurn(accountId);
    this.#idle.delete(accountId);
    this.#waiting.set(accountId, turn);
    turn.waitingJobs += 1;
    return turn;
  }

  /** A job of the account got a slot: the account goes to the end. */
  serve(turn: Turn): void {
    this.#served += 1;
    turn.place = this.#served;
  }

  /** Uncounts a waiting job, which `enter()` counted. */
  leave(turn: Turn): void {
    turn.waitingJobs -= 1;
    if (turn.waitingJobs > 0) return;
    this.#waiting.delete(turn.accountId);
    this.#idle.set(turn.accountId, turn);
  }

  #newTurn(accountId: string): Turn {
    const place = FIRST_NEWCOMER + this.#newcomers;
    this.#newcomers += 1;
    return { accountId, place, waitingJobs: 0 };
  }
}
