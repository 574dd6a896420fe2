import { formatAge } from "../../shared/cli/format-age.ts";
import { formatBytes, GIB, MIB } from "../../shared/format-bytes.ts";

/** Progress of a download. Members are absent or null if unknown. */
interface DownloadMetrics {
  readonly receivedBytes?: number | undefined;
  readonly totalBytes?: number | null | undefined;
  readonly bytesPerSecond?: number | null | undefined;
}

const MS_PER_S = 1_000;

/** Returns the known metrics, such as "120 of 202 MiB, 4.0 MiB/s, 20 s left"; "" before the first byte. */
export function describeDownload({ receivedBytes, totalBytes = null, bytesPerSecond = null }: DownloadMetrics): string {
  if (receivedBytes === undefined) return "";
  const parts = [totalBytes === null ? formatBytes(receivedBytes) : formatShare(receivedBytes, totalBytes)];
  if (bytesPerSecond !== null) parts.push(`${formatBytes(bytesPerSecond)}/s`);
  if (bytesPerSecond !== null && bytesPerSecond > 0 && totalBytes !== null && totalBytes > receivedBytes) {
    parts.push(`${formatAge(Math.ceil((totalBytes - receivedBytes) / bytesPerSecond) * MS_PER_S)} left`);
  }
  return parts.join(", ");
}

function formatShare(receivedBytes: number, totalBytes: number): string {
  if (totalBytes >= GIB) return `${(receivedBytes / GIB).toFixed(1)} of ${formatBytes(totalBytes)}`;
  if (totalBytes >= 10 * MIB) return `${Math.floor(receivedBytes / MIB)} of ${Math.ceil(totalBytes / MIB)} MiB`;
  return `${formatBytes(receivedBytes)} of ${formatBytes(totalBytes)}`;
}
