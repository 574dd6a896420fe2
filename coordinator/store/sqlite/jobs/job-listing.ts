import type Database from "better-sqlite3";

/** More would make the commit that lists them slower than the others. */
const LISTED_TOGETHER = 32;

/**
 * Puts jobs that have ended into the indexes of ended jobs, many at once: one by one, each would write a page of each index. Lists read
 * those that are not in there yet too. Call what this returns after each end.
 */
export function prepareListing(db: Database.Database): () => void {
  const list = db.prepare("UPDATE jobs SET is_unlisted = 0 WHERE is_unlisted = 1");
  // How many an earlier run left is unknown: they are listed with the first one.
  let unlisted = LISTED_TOGETHER;
  return () => {
    unlisted += 1;
    if (unlisted < LISTED_TOGETHER) return;
    list.run();
    unlisted = 0;
  };
}
