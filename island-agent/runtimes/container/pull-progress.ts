import { z } from "zod";
import type { DownloadProgress } from "../../models/download/transfer.ts";

/** One line of an engine's pull report. Podman omits most fields. Source: Docker's API, ImageCreate. */
const reportSchema = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).optional(),
});

interface Layer {
  receivedBytes: number;
  totalBytes: number | null;
}

/** Progress of a pull, read from the engine's report line by line. */
export class PullProgress {
  /** Layers to download; those already present are not counted. */
  readonly #layers = new Map<string, Layer>();
  #fault: string | null = null;

  /** Error message of the engine; null without an error. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Compressed bytes, received and in total. The total is null until the size of every layer is known. */
  get bytes(): DownloadProgress {
    const layers = [...this.#layers.values()];
    const isKnown = layers.length > 0 && layers.every(({ totalBytes }) => totalBytes !== null);
    return {
      receivedBytes: layers.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
      totalBytes: isKnown ? layers.reduce((sum, { totalBytes }) => sum + (totalBytes ?? 0), 0) : null,
    };
  }

  /** Reads one line; unknown lines are ignored. */
  take(line: string): void {
    const report = readReport(line);
    if (report?.error !== undefined) this.#fault ??= report.error;
    if (report?.id === undefined) return;
    const layer = this.#layers.get(report.id);
    const { current, total } = report.progressDetail ?? {};
    switch (report.status) {
      case "Pulling fs layer":
        this.#layers.set(report.id, { receivedBytes: 0, totalBytes: null });
        return;
      case "Downloading":
        if (layer === undefined || current === undefined) return;
        layer.receivedBytes = current;
        if (total !== undefined && total > 0) layer.totalBytes = total;
        return;
      case "Download complete":
      case "Pull complete":
        // A small layer is complete before the engine reports its size.
        if (layer === undefined) return;
        layer.totalBytes ??= layer.receivedBytes;
        layer.receivedBytes = layer.totalBytes;
    }
  }
}

function readReport(line: string): z.infer<typeof reportSchema> | undefined {
  try {
    return reportSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
