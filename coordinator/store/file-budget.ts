import { ServiceError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import type { FileBudget, FileUsage } from "./file-store.ts";

/** @throws {ServiceError} `file_budget_exceeded` if a file of this size does not fit beside what the account has. */
export function assertFileFits(usage: FileUsage, sizeBytes: number, budget: FileBudget): void {
  if (usage.files >= budget.maxFiles) {
    throw refusal(`The account has ${usage.files} files, as many as it may; delete some`);
  }
  if (usage.bytes + sizeBytes > budget.maxBytes) {
    const [used, most] = [formatBytes(usage.bytes), formatBytes(budget.maxBytes)];
    throw refusal(
      `The account's files have ${used} of the ${most} that they may have; this one has ${formatBytes(sizeBytes)}`,
    );
  }
}

function refusal(message: string): ServiceError {
  return new ServiceError("file_budget_exceeded", message);
}
