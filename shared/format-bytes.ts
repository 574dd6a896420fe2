export const KIB = 1_024;
export const MIB = 1_024 * KIB;
export const GIB = 1_024 * MIB;

/** A size for people, in the largest unit that it reaches: "12 KiB", "2.2 MiB", "5.0 GiB". */
export function formatBytes(bytes: number): string {
  if (bytes >= GIB) return `${(bytes / GIB).toFixed(1)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${Math.ceil(bytes / KIB)} KiB`;
}

/** In whole MiB, rounded up: for what is needed, so that the figure is never too low. */
export function formatMibRoundedUp(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}

/** In whole MiB, rounded down: for what is available, so that the figure is never too high. */
export function formatMibRoundedDown(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}
