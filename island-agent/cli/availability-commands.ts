import type { AgentStatus } from "../execution/island-reports.ts";
import { storePause } from "../availability/pause-file.ts";
import { tellAgent } from "../control/control-client.ts";
import { CliError } from "../../shared/errors.ts";

/**
 * `island pause` and `island resume`. The choice is kept over restarts, so the commands also work while no agent runs.
 * @returns what to say to the user.
 */
export async function setPause(dataDirectory: string, isPaused: boolean): Promise<string> {
  const status = await tellAgent<AgentStatus>(dataDirectory, isPaused ? "/pause" : "/resume");
  if (status === undefined) {
    await storePause(dataDirectory, isPaused);
    return `No agent runs now. The next one starts ${isPaused ? "paused" : "ready for jobs"}`;
  }
  if (!isPaused && status.closedBecause !== null) return `Resumed, but the Island is ${status.closedBecause}`;
  return isPaused ? `Paused. ${describeRunning(status)}` : "The Island takes jobs again";
}

/** `island drain`: the agent takes no new jobs, finishes the running ones, however long they take, and ends. @throws {CliError} when no agent runs. */
export async function drain(dataDirectory: string): Promise<string> {
  const status = await tellAgent<AgentStatus>(dataDirectory, "/drain");
  if (status === undefined) throw new CliError("No agent runs on this data directory: start one with island start");
  return `The agent ends when its running jobs have finished. ${describeRunning(status)}`;
}

function describeRunning({ running }: AgentStatus): string {
  if (running.length === 0) return "No job is running";
  return running.length === 1 ? "1 job is being finished" : `${running.length} jobs are being finished`;
}
