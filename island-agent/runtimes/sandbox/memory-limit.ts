import { GIB } from "../../../shared/format-bytes.ts";
import type { Launch } from "./sandbox.ts";

/**
 * Memory that a host may map beyond the memory for Cargos: Node's heap and the stacks of its threads, which it maps but
 * does not fill (1.3 GB with a small model, Linux x64, Node 24).
 */
export const MAPPING_ALLOWANCE_BYTES = 4 * GIB;
const BYTES_PER_KIB = 1_024;

/**
 * Returns the launch with a limit on the private memory that the process may map. It stops a host that allocates faster
 * than the memory watch polls. Mapped files do not count. RLIMIT_AS is unsuitable: V8 reserves 19 GB of addresses.
 * Source: setrlimit(2), RLIMIT_DATA.
 */
export function withMemoryLimit(launch: Launch, bytes: number | null): Launch {
  if (bytes === null || !Number.isFinite(bytes)) return launch;
  // If the agent already has a lower limit, that limit stays.
  const script = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"';
  const kibibytes = String(Math.floor(bytes / BYTES_PER_KIB));
  return { ...launch, file: "/bin/sh", args: ["-c", script, "sh", kibibytes, launch.file, ...launch.args] };
}
