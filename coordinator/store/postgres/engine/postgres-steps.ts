import { type LedgerParty, type Posting, refusalOf } from "../../../credits/postings.ts";
import { runBody, type RunStep } from "../../steps/steps.ts";
import { numberNames, type Tx, type Values } from "../../steps/tx.ts";
import { encodeText } from "../../steps/table.ts";
import type { Session } from "./connection.ts";
import type { Database } from "./database.ts";

/**
 * Returns a function that runs steps, writes and snapshots in their own transaction. `selfId`: id of this coordinator.
 */
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

/** The transaction or connection of a step, in which every statement can use `@selfId`. */
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
    // This lock still allows inserts of rows that reference the account.
    await this.#session.run("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
  }

  async lockTable(name: string): Promise<void> {
    await this.#session.run(`LOCK TABLE ${name} IN EXCLUSIVE MODE`);
  }

  async balanceOf(party: LedgerParty): Promise<bigint> {
    return (await lockBalances(this.#session, [party])).get(party) ?? 0n;
  }

  /** Stores postings. For postings of jobs, `pg_temp.post` does the same. */
  async post(postings: readonly Posting[], atMs: number, note: string | null = null, jobId?: string): Promise<void> {
    const session = this.#session;
    const parties = postings.map(({ party }) => party);
    const balances = await lockBalances(session, parties);
    const refusal = refusalOf(postings, (party) => balances.get(party));
    if (refusal !== null) throw refusal;
    const moved = postings.filter(({ micro }) => micro !== 0);
    if (moved.length === 0) return;
    for (const { party, micro } of moved) {
      // oxlint-disable-next-line no-await-in-loop -- A movement has two or three postings.
      if (party === "network") await session.run("INSERT INTO network_moves (micro) VALUES ($1)", [micro]);
      else await session.run("UPDATE balances SET micro = micro + $1 WHERE party = $2", [micro, party]);
    }
    const entries = await session.all<{ txn: number }>(
      `WITH first AS MATERIALIZED (SELECT nextval('entries_id_seq') AS id)
     INSERT INTO entries (id, txn, party, micro, kind, job_id, at_ms)
     SELECT CASE n WHEN 1 THEN first.id ELSE nextval('entries_id_seq') END, first.id, party, micro, kind, $5, $4
     FROM first, unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS posting (party, micro, kind, n) ORDER BY n
     RETURNING txn`,
      [
        moved.map(({ party }) => party),
        moved.map(({ micro }) => micro),
        moved.map(({ kind }) => kind),
        atMs,
        jobId ?? null,
      ],
    );
    if (note === null) return;
    const values = [entries[0]?.txn, encodeText("written", note)];
    await session.run("INSERT INTO ledger_notes (txn, note) VALUES ($1, $2)", values);
  }

  #statement(sql: string, values: Values = {}): { text: string; parameters: unknown[] } {
    const { text, names } = numberNames(sql);
    const given: Record<string, unknown> = { selfId: this.#selfId, ...values };
    return { text, parameters: names.map((name) => given[name] ?? null) };
  }
}

/** SQL: balance of the network, with its pending moves added. */
const NETWORK_BALANCE = `SELECT (micro + (SELECT coalesce(sum(micro), 0) FROM network_moves))::text AS micro FROM balances
  WHERE party = 'network'`;

/** Locks balances until the transaction ends. Returns them in micro-credits, without unknown parties. */
async function lockBalances(session: Session, parties: readonly LedgerParty[]): Promise<Map<LedgerParty, bigint>> {
  const rows = await session.all<{ party: LedgerParty; micro: string }>(
    "SELECT party, micro::text FROM balances WHERE party = ANY ($1) AND party <> 'network' ORDER BY party FOR UPDATE",
    [parties],
  );
  const balances = new Map(rows.map(({ party, micro }) => [party, BigInt(micro)]));
  if (parties.includes("network")) {
    const row = await session.one<{ micro: string }>(NETWORK_BALANCE);
    balances.set("network", BigInt(row?.micro ?? 0));
  }
  return balances;
}
