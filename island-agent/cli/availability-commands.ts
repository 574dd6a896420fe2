import type { AgentStatus } from "../execution/island-reports.ts";
import { storePause } from "../availability/pause-file.ts";
import { postToAgent } from "../control/control-client.ts";
import { CliError } from "../../shared/errors.ts";

/**
 * Runs `island pause` and `island resume`. The pause survives restarts, so the commands also work while no agent is
 * running.
 * @returns text for the user.
 */
export async function setPause(dataDirectory: string, isPaused: boolean): Promise<string> {
  const status = await postToAgent<AgentStatus>(dataDirectory, isPaused ? "/pause" : "/resume");
  if (status === undefined) {
    await storePause(dataDirectory, isPaused);
    return `No agent is running. The next one starts ${isPaused ? "paused" : "without a pause"}`;
  }
  if (!isPaused && status.closedBecause !== null) return `Resumed, but the Island is ${status.closedBecause}`;
  return isPaused ? `Paused. ${describeRunning(status)}` : "The Island accepts jobs again";
}

/** Runs `island drain`: rejects new jobs, finishes running ones and stops. @throws {CliError} if no agent runs. */
export async function drain(dataDirectory: string): Promise<string> {
  const status = await postToAgent<AgentStatus>(dataDirectory, "/drain");
  if (status === undefined)
    throw new CliError("No agent is running on this data directory. Start one with: island start");
  return `The agent stops when its running jobs have finished. ${describeRunning(status)}`;
}

function describeRunning({ running }: AgentStatus): string {
  if (running.length === 0) return "No jobs are running";
  return running.length === 1 ? "1 job is still running" : `${running.length} jobs are still running`;
}
