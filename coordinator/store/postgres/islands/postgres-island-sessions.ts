import type { IslandSessions } from "../../island-sessions.ts";
import type { Database } from "../engine/database.ts";

export class PostgresIslandSessions implements IslandSessions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  nextNumber(): Promise<number> {
    return this.#db.use(async (session) => {
      const row = await session.one<{ number: number }>("SELECT nextval('island_sessions') AS number", []);
      if (row === undefined) throw new Error("The sequence of the Islands' sessions gave no number");
      return row.number;
    });
  }
}
