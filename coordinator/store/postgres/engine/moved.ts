import type pg from "pg";
import type { MoveMark } from "../../move/move-mark.ts";

export async function readMark(client: Pick<pg.ClientBase, "query">): Promise<MoveMark | null> {
  const found = await client.query<{ found: boolean }>("SELECT to_regclass('data_move') IS NOT NULL AS found");
  if (found.rows[0]?.found !== true) return null;
  const sql = `SELECT id, role, other, is_done AS "isDone" FROM data_move`;
  return (await client.query<MoveMark>(sql)).rows[0] ?? null;
}
