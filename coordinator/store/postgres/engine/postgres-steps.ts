import { runBody, type RunStep } from "../../steps.ts";
import { numberNames, type Tx, type Values } from "../../tx.ts";
import type { Session } from "./connection.ts";
import type { Database } from "./database.ts";

/** Runs each write in a transaction of its own. */
export function postgresSteps(db: Database): RunStep {
  return (_name, step, args) => {
    const call = (session: Session): Promise<unknown> => runBody(step, new PostgresTx(session), args);
    const run = (): Promise<unknown> => (step.kind === "write" ? db.transact(call) : db.use(call));
    return step.isKept ? db.untilAvailable(run) : run();
  };
}

/** What the step of a store runs on. */
class PostgresTx implements Tx {
  readonly dialect = "postgres";
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  all<T>(sql: string, values?: Values): Promise<T[]> {
    const { text, parameters } = statementOf(sql, values);
    return this.#session.all<T>(text, parameters);
  }

  one<T>(sql: string, values?: Values): Promise<T | undefined> {
    const { text, parameters } = statementOf(sql, values);
    return this.#session.one<T>(text, parameters);
  }

  only<T>(sql: string, values?: Values): Promise<T> {
    return this.one(sql, values) as Promise<T>;
  }

  run(sql: string, values?: Values): Promise<number> {
    const { text, parameters } = statementOf(sql, values);
    return this.#session.run(text, parameters);
  }

  async lockAccount(accountId: string): Promise<void> {
    await this.#session.run("SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", [accountId]);
  }
}

function statementOf(sql: string, values: Values = {}): { text: string; parameters: unknown[] } {
  const { text, names } = numberNames(sql);
  const given: Record<string, unknown> = { ...values };
  return { text, parameters: names.map((name) => given[name] ?? null) };
}
