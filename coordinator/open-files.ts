import { join } from "node:path";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { FileContents } from "./files/file-contents.ts";
import type { GrantSigner } from "./files/file-grants.ts";
import { FileService } from "./files/file-service.ts";
import type { Store } from "./store/store.ts";

const MAX_FILES = 10_000;

export interface OpenFilesDeps {
  readonly config: Pick<
    CoordinatorConfig,
    "dataDirectory" | "fileMaxBytes" | "filesBudgetBytes" | "filesDirectory" | "keepFilesMs" | "minFreeDiskBytes"
  >;
  readonly store: Store;
  readonly proofs: Pick<GrantSigner, "isFileSignature">;
  readonly clock: Clock;
  readonly log: Logger;
}

export function openFiles({ config, store, proofs, clock, log }: OpenFilesDeps): FileService {
  const directory = config.filesDirectory ?? join(config.dataDirectory, "files");
  const contents = new FileContents(directory, config.minFreeDiskBytes);
  const { fileMaxBytes: maxFileBytes, filesBudgetBytes: maxBytes, keepFilesMs: keepMs } = config;
  const limits = { maxFileBytes, keepMs, budget: { maxBytes, maxFiles: MAX_FILES } };
  const files = new FileService({ store, proofs, contents, clock, log, limits });
  files.start();
  return files;
}
