import type { Reading } from "../../shared/prometheus.ts";
import type { FileUsage } from "../store/files.ts";

export interface FileReadingsDeps {
  readonly files: { readonly figures: { kept(): Promise<FileUsage> } };
  readonly fileBatches: { readonly runningCount: number; readonly linesUnderWay: number };
}

/** What accounts have of files and batches over files now. */
export function fileReadings({ files, fileBatches }: FileReadingsDeps): readonly Reading[] {
  const kept = (name: string, help: string, of: (usage: FileUsage) => number): Reading => ({
    type: "gauge",
    name,
    help,
    labelNames: [],
    read: async () => [[[], of(await files.figures.kept())]],
  });
  const running = (name: string, help: string, read: () => number): Reading => ({
    type: "gauge",
    name,
    help,
    labelNames: [],
    read: () => [[[], read()]],
  });
  return [
    kept("atoll_files", "Files of all accounts of the network", (usage) => usage.files),
    kept("atoll_file_bytes", "Bytes of their contents on disk, equal ones once", (usage) => usage.bytes),
    running("atoll_file_batches_running", "Batches over files that run here", () => fileBatches.runningCount),
    running(
      "atoll_file_batch_lines_running",
      "Lines of these that wait for their jobs",
      () => fileBatches.linesUnderWay,
    ),
  ];
}
