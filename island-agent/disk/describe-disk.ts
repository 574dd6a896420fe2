import { formatBytes, GIB } from "../../shared/format-bytes.ts";

/** Disk space of the models, for the owner. */
export interface DiskState {
  /** Null when unknown. */
  readonly usedBytes: number | null;
  readonly budgetBytes: number;
  readonly freeBytes: number | null;
  readonly minFreeBytes: number;
}

/** Free space below which advice is shown. Many models are larger. */
const LITTLE_BYTES = GIB;

/** Describes budget and free space: "models 2.2 MiB of 35.0 GiB; 40.0 GiB free, of which 5.0 GiB must stay free". */
export function describeDisk({ usedBytes, budgetBytes, freeBytes, minFreeBytes }: DiskState): string {
  const used = usedBytes === null ? "unknown" : formatBytes(usedBytes);
  if (freeBytes === null) return `models ${used} of ${formatBytes(budgetBytes)}; free space unknown`;
  const limit = Math.min(budgetBytes, (usedBytes ?? 0) + Math.max(0, freeBytes - minFreeBytes));
  return `models ${used} of ${formatBytes(limit)}; ${formatBytes(freeBytes)} free${describeReserve(freeBytes, minFreeBytes)}`;
}

function describeReserve(freeBytes: number, minFreeBytes: number): string {
  if (minFreeBytes === 0) return "";
  const reserve = formatBytes(minFreeBytes);
  return freeBytes < minFreeBytes
    ? `, less than the ${reserve} that must stay free`
    : `, of which ${reserve} must stay free`;
}

/** Returns advice for a disk that has little space for models; null while it has enough. */
export function describeShortage({ usedBytes, budgetBytes, freeBytes, minFreeBytes }: DiskState): string | null {
  if (freeBytes === null) return null;
  const spareBytes = Math.max(0, freeBytes - minFreeBytes);
  if (spareBytes >= LITTLE_BYTES || (usedBytes ?? 0) + spareBytes >= budgetBytes) return null;
  const advice = "free space, for example with island models prune, or lower models.min_free_gb";
  return `${formatBytes(spareBytes)} left for models: ${advice}`;
}
