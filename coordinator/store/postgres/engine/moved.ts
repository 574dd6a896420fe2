import pg from "pg";
import { refuseMoved, type MoveMark } from "../../move/move-mark.ts";
import { clientConfig } from "./connection.ts";
import { withoutPassword } from "./storage-fault.ts";

/** The note of a move of all data. */
export async function readMark(client: Pick<pg.ClientBase, "query">): Promise<MoveMark | null> {
  const found = await client.query<{ found: boolean }>("SELECT to_regclass('data_move') IS NOT NULL AS found");
  if (found.rows[0]?.found !== true) return null;
  const sql = `SELECT id, role, other, is_done AS "isDone" FROM data_move`;
  return (await client.query<MoveMark>(sql)).rows[0] ?? null;
}

/** @throws {DatabaseError} if the data was moved, or is being moved; errors of the server pass through. */
export async function assertNotMoved(address: string): Promise<void> {
  const client = new pg.Client(clientConfig(address, "atoll"));
  try {
    await client.connect();
    refuseMoved(withoutPassword(address), await readMark(client));
  } finally {
    await client.end().catch(() => undefined);
  }
}
