import { runBody, type RunStep } from "../../steps/steps.ts";
import type { LedgerParty, Posting } from "../../../credits/postings.ts";
import { numberNames, type Tx, type Values } from "../../steps/tx.ts";
import { lockBalances, post } from "../ledger/post.ts";
import type { Session } from "./connection.ts";
import type { Database } from "./database.ts";

/** Runs each write and each snapshot in a transaction of its own. `selfId`: of this coordinator, and a value of every statement. */
export function postgresSteps(db: Database, selfId: string): RunStep {
  return (_name, step, args) => {
    const call = (session: Session): Promise<unknown> => runBody(step, new PostgresTx(session, selfId), args);
    const run = (): Promise<unknown> => {
      if (step.isSnapshot) return db.transact(call, "REPEATABLE READ");
      return step.kind === "write" ? db.transact(call) : db.use(call);
    };
    return step.isKept ? db.untilAvailable(run) : run();
  };
}

/** What the step of a store runs on. */
export class PostgresTx implements Tx {
  readonly dialect = "postgres";
  readonly #session: Session;
  readonly #selfId: string;

  constructor(session: Session, selfId: string) {
    this.#session = session;
    this.#selfId = selfId;
  }

  all<T>(sql: string, values?: Values): Promise<T[]> {
    const { text, parameters } = this.#statement(sql, values);
    return this.#session.all<T>(text, parameters);
  }

  one<T>(sql: string, values?: Values): Promise<T | undefined> {
    const { text, parameters } = this.#statement(sql, values);
    return this.#session.one<T>(text, parameters);
  }

  only<T>(sql: string, values?: Values): Promise<T> {
    return this.one(sql, values) as Promise<T>;
  }

  run(sql: string, values?: Values): Promise<number> {
    const { text, parameters } = this.#statement(sql, values);
    return this.#session.run(text, parameters);
  }

  async lockAccount(accountId: string): Promise<void> {
    // What refers to the account goes on.
    await this.#session.run("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
  }

  async lockTable(name: string): Promise<void> {
    await this.#session.run(`LOCK TABLE ${name} IN EXCLUSIVE MODE`);
  }

  async balanceOf(party: LedgerParty): Promise<bigint> {
    return (await lockBalances(this.#session, [party])).get(party) ?? 0n;
  }

  post(postings: readonly Posting[], atMs: number, note: string | null = null): Promise<void> {
    return post(this.#session, postings, atMs, note);
  }

  #statement(sql: string, values: Values = {}): { text: string; parameters: unknown[] } {
    const { text, names } = numberNames(sql);
    const given: Record<string, unknown> = { selfId: this.#selfId, ...values };
    return { text, parameters: names.map((name) => given[name] ?? null) };
  }
}
