import { GIB } from "../../../shared/format-bytes.ts";
import type { Launch } from "./sandbox.ts";

/**
 * What a host may map beyond the memory for Cargos: the heap of Node and the stacks of its threads, which it maps but does not fill
 * (1.3 GB with a small model, Linux x64, Node 24).
 */
export const MAPPING_ALLOWANCE_BYTES = 4 * GIB;
const BYTES_PER_KIB = 1_024;

/**
 * The same launch, with a limit on the private memory that the process may map: a host that allocates faster than the memory watch
 * looks gets no more. Mapped files do not count. RLIMIT_AS would not do: V8 reserves 19 GB of addresses.
 * Source: setrlimit(2), RLIMIT_DATA.
 */
export function withMemoryLimit(launch: Launch, bytes: number | null): Launch {
  if (bytes === null || !Number.isFinite(bytes)) return launch;
  // A lower limit, which the agent already has, stays.
  const script = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"';
  const kibibytes = String(Math.floor(bytes / BYTES_PER_KIB));
  return { ...launch, file: "/bin/sh", args: ["-c", script, "sh", kibibytes, launch.file, ...launch.args] };
}
