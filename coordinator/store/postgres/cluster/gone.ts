/** Now, in ms since the epoch, by the clock of the database. */
export const NOW_MS = "extract(epoch FROM clock_timestamp()) * 1000";

/** SQL: the coordinator that `column` names has left, or was found dead (`ClusterStore.reap`). What it had to do is anybody's. */
export const isGone = (column: string): string =>
  `NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = ${column})`;
