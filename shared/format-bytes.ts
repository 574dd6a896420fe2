export const KIB = 1_024;
export const MIB = 1_024 * KIB;
export const GIB = 1_024 * MIB;

/** Formats a size in the largest unit that it reaches: "12 KiB", "2.2 MiB", "5.0 GiB". */
export function formatBytes(bytes: number): string {
  if (bytes >= GIB) return `${(bytes / GIB).toFixed(1)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${Math.ceil(bytes / KIB)} KiB`;
}

/** Formats a required size in whole MiB, rounded up so that it is never too low. */
export function formatMibRoundedUp(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}

/** Formats an available size in whole MiB, rounded down so that it is never too high. */
export function formatMibRoundedDown(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}
