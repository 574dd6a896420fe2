import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { ContainerEngine, engineMessage, statusOf, type EngineFacts } from "./engine.ts";
import { describeAddress, engineAddresses, type EngineAddress, type EngineSearch } from "./engine-address.ts";

export interface FoundEngine {
  readonly engine: ContainerEngine;
  readonly facts: EngineFacts;
}

/**
 * Finds the first engine that responds and can enforce the limits of containers.
 * @throws {JobFailure} `runtime_unavailable`, retryable, with the reason for each address; or `signal.reason`.
 */
export async function findEngine(search: EngineSearch, clock: Clock, signal: AbortSignal): Promise<FoundEngine> {
  const faults: string[] = [];
  for (const address of addressesOf(search)) {
    try {
      const engine = await ContainerEngine.at(address, clock);
      const facts = await engine.facts(signal);
      if (facts.missing.length === 0) return { engine, facts };
      faults.push(`${facts.name} at ${describeAddress(address)} lacks ${facts.missing.join(", ")}`);
    } catch (error) {
      signal.throwIfAborted();
      const fault = describeFault(address, error);
      if (fault !== null) faults.push(fault);
    }
  }
  if (faults.length === 0)
    faults.push("neither Docker nor Podman was found. Start one, or set its address in DOCKER_HOST");
  throw unavailable(faults.join("; "));
}

function addressesOf(search: EngineSearch): EngineAddress[] {
  try {
    return engineAddresses(search);
  } catch (error) {
    throw unavailable(engineMessage(error));
  }
}

/** Returns null when the address does not exist. */
function describeFault(address: EngineAddress, error: unknown): string | null {
  const shownAddress = describeAddress(address);
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return null;
    case "EACCES":
    case "EPERM":
      return `this user may not use ${shownAddress}. Add the user to the group that owns the socket (often docker)`;
    case "ECONNREFUSED":
      return `no engine listens at ${shownAddress}`;
    default:
      return `${shownAddress} does not respond like a container engine (${statusOf(error) ?? engineMessage(error)})`;
  }
}

function unavailable(why: string): JobFailure {
  return new JobFailure("runtime_unavailable", `Containers cannot run here: ${why}`, { retryable: true });
}
