/** What a coordinator's clock may differ from the browser's without anybody seeing it. `Date` headers are whole seconds. */
const TOLERATED_MS = 5_000;
let aheadMs = 0;

/** The time at the coordinator: a browser's clock may be wrong by days, and every time that is shown comes from there. */
export function networkNow(): number {
  return Date.now() + aheadMs;
}

/** Learns from the `Date` header of an answer; null: it has none. */
export function learnTime(date: string | null): void {
  const differenceMs = date === null ? Number.NaN : Date.parse(date) - Date.now();
  if (Number.isNaN(differenceMs)) return;
  aheadMs = Math.abs(differenceMs) < TOLERATED_MS ? 0 : differenceMs;
}
