import Database from "better-sqlite3";

/**
 * Moves everything from the write-ahead log into the database file and empties the log. It does not wait: false if a reader, such as a
 * command of another process, still needs the log, or if the disk refuses. Nothing is lost then.
 */
export function truncateLog(db: Database.Database): boolean {
  const timeoutMs = db.pragma("busy_timeout", { simple: true }) as number;
  db.pragma("busy_timeout = 0");
  try {
    return db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0;
  } catch (error) {
    if (error instanceof Database.SqliteError) return false;
    throw error;
  } finally {
    db.pragma(`busy_timeout = ${timeoutMs}`);
  }
}
