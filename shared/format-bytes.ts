export const BYTES_PER_MIB = 1_048_576;

/** Rounded up, so that it never looks as if less would do. */
export function mebibytesNeeded(bytes: number): string {
  return `${Math.ceil(bytes / BYTES_PER_MIB)} MiB`;
}

/** Rounded down, so that it never looks as if what is needed were there. */
export function mebibytesHad(bytes: number): string {
  return `${Math.floor(bytes / BYTES_PER_MIB)} MiB`;
}
