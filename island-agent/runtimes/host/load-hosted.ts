import { HostedCargo, type HostedCargoOptions } from "./hosted-cargo.ts";
import type { HostingOptions } from "./hosting-options.ts";
import type { HostProgram } from "./host-process.ts";
import { type LoadSpec, loadInHost } from "./start-host.ts";

/** What a runtime says of its Cargos once they are loaded. */
export type HostedTraits<Job> = Pick<HostedCargoOptions<Job>, "concurrency" | "canResume" | "readInput">;

/**
 * Loads what `spec` says in a new process, and gives the agent's side of it.
 * @throws {JobFailure} or `signal.reason`, the process being gone by then.
 */
export async function loadHosted<Job>(
  program: HostProgram,
  options: Required<HostingOptions>,
  spec: LoadSpec,
  traits: HostedTraits<Job>,
  signal: AbortSignal,
): Promise<HostedCargo<Job>> {
  const { clock, killAfterMs } = options;
  const { ramCeilingBytes } = spec;
  const { host, memory } = await loadInHost(program, options, spec, signal);
  return new HostedCargo(host, { ...traits, memory, ramCeilingBytes, clock, killAfterMs });
}
