/** Now, in ms since the epoch, by the clock of the database. */
export const NOW_MS = "extract(epoch FROM clock_timestamp()) * 1000";

/** SQL: the coordinator that `column` names does not live, by the leases. */
export const isGone = (column: string): string =>
  `NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = ${column} AND lease_until_ms > ${NOW_MS})`;
