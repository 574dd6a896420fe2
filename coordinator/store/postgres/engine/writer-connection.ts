import pg from "pg";
import { jobFunctions } from "../operations/job-functions.ts";
import { clientConfig, PLANS } from "./connection.ts";

const RUN = { name: "run", text: "SELECT pg_temp.run($1::jsonb, $2::text[]) AS results" } as const;

/** The connection of a lane. */
export interface WriterConnection {
  /** Runs operations in one commit and resolves with their results. `parties`: the parties whose balances they lock. */
  run(operations: readonly unknown[], parties: readonly string[]): Promise<readonly unknown[]>;
  /** Disconnects; never rejects. */
  end(): Promise<void>;
}

/** Opens a connection. It calls `onEnd` when it can no longer be used. */
export type OpenWriter = (name: string, onEnd: () => void) => Promise<WriterConnection>;

/** Returns a function that opens connections of the coordinator `ownerId`, each with its own temporary functions. */
export function writersTo({ address, ownerId }: { readonly address: string; readonly ownerId: string }): OpenWriter {
  return async (name, onEnd) => {
    const client = new pg.Client(clientConfig(address, name));
    client.on("error", onEnd);
    client.on("end", onEnd);
    try {
      await client.connect();
      await client.query(PLANS);
      await client.query(jobFunctions(ownerId));
    } catch (error) {
      // Otherwise each attempt would keep a connection open to a server that refuses only the functions.
      void client.end().catch(() => undefined);
      throw error;
    }
    return {
      async run(operations, parties) {
        const values = [JSON.stringify(operations), parties];
        const { rows } = await client.query<{ results: unknown[] }>({ ...RUN, values });
        return rows[0]?.results ?? [];
      },
      end: () => client.end().catch(() => undefined),
    };
  };
}
