import { FileBatchService } from "./dialects/batches/file-batch-service.ts";
import type { FileBatchDeps } from "./dialects/batches/file-batch-deps.ts";
import { lineEndpoints } from "./dialects/batches/line-endpoints.ts";
import { httpOptionsOf } from "./http/http-options.ts";

type OpenDeps = Omit<FileBatchDeps, "countEnd" | "endpoints"> &
  Omit<Parameters<typeof lineEndpoints>[0], "options"> & {
    readonly config: Parameters<typeof httpOptionsOf>[0];
    readonly memory: Parameters<typeof httpOptionsOf>[1];
  };

/** Batches over files. Starts those that a stop or a crash left, once Islands may come. */
export function openFileBatches({ config, memory, catalog, ...deps }: OpenDeps): FileBatchService {
  const endpoints = lineEndpoints({ catalog, options: httpOptionsOf(config, memory), log: deps.log });
  const fileBatches = new FileBatchService({ ...deps, endpoints });
  fileBatches.start();
  return fileBatches;
}
