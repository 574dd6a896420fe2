import { statfs } from "node:fs/promises";
import type { Clock, Timer } from "../../../../shared/clock.ts";
import { formatMibRoundedDown } from "../../../../shared/format-bytes.ts";

const READ_EVERY_MS = 2_000;

/**
 * Reads now and then every 2 s how much space the disk of a folder has. Returns what ends that.
 * @param onRead told what is wrong when less than `minFreeBytes` are free, else null.
 */
export function watchDiskSpace(
  folder: string,
  minFreeBytes: number,
  clock: Pick<Clock, "schedule">,
  onRead: (tooLittleBecause: string | null) => void,
): () => void {
  let timer: Timer | null = null;
  let isClosed = false;
  const look = async (): Promise<void> => {
    const freeBytes = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      // A disk that does not answer is found by the next write.
      () => Infinity,
    );
    if (isClosed) return;
    const free = formatMibRoundedDown(freeBytes);
    const isEnough = freeBytes >= minFreeBytes;
    onRead(isEnough ? null : `the disk of ${folder} has only ${free} left (setting min_free_disk_mb)`);
    timer = clock.schedule(READ_EVERY_MS, () => void look());
  };
  void look();
  return () => {
    isClosed = true;
    timer?.cancel();
  };
}
