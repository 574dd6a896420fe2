import { Tally } from "../../shared/tally.ts";
import type { FileBatchProgress } from "../store/file-batches.ts";

/** What batches over files are measured by. */
export class FileBatchFigures {
  readonly batches = new Tally({
    name: "atoll_file_batches_total",
    help: "Batches over files since the coordinator started: created here, and ended here by their state",
    labelNames: ["state"],
  });
  readonly lines = new Tally({
    name: "atoll_file_batch_lines_total",
    help: "Lines of batches that ended here since the coordinator started: with an answer, or without one",
    labelNames: ["result"],
  });

  constructor() {
    for (const state of ["created", "completed", "failed", "expired", "cancelled"]) this.batches.add([state], 0);
    for (const result of ["completed", "failed"]) this.lines.add([result], 0);
  }

  ended({ state, completed, failed }: Pick<FileBatchProgress, "state" | "completed" | "failed">): void {
    this.batches.add([state]);
    this.lines.add(["completed"], completed);
    this.lines.add(["failed"], failed);
  }
}
