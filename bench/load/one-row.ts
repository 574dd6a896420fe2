import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openForWriting, prepareFile } from "../../coordinator/store/sqlite/engine/connection.ts";
import { serveWorker } from "../harness/worker.ts";

/** Worker process: makes the smallest commit, of one row, on a connection that is configured like the coordinator's. */
const api = {
  async commit({ count, bytes }: { count: number; bytes: number }): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-bench-row-"));
    const db = openForWriting(prepareFile(join(directory, "row.db")));
    db.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)");
    const insert = db.prepare("INSERT INTO rows (text) VALUES (?)");
    const text = "x".repeat(bytes);
    for (let index = 0; index < count; index += 1) insert.run(text);
    db.close();
    await rm(directory, { recursive: true });
  },
};
export type OneRowApi = typeof api;
serveWorker(api);
