import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CliError } from "../../shared/errors.ts";
import { AGENT_HEADER, controlAddressSchema, controlFile, type ControlAddress } from "./control-server.ts";

const MAX_RESPONSE_WAIT_MS = 5_000;
const refusalSchema = z.object({ error: z.string() });

/** Thrown when the agent refused a command. The message is for the user. */
export class ControlRefusal extends CliError {
  override readonly name = "ControlRefusal";
}

/**
 * Reads from the agent that runs on `dataDirectory`. Returns undefined when no agent runs, even if a dead agent has
 * left its file and another program uses its port.
 * @throws {CliError} when an agent runs but does not respond as expected.
 */
export function getFromAgent<T>(dataDirectory: string, path: string): Promise<T | undefined> {
  return request(dataDirectory, "GET", path, { limitMs: MAX_RESPONSE_WAIT_MS });
}

/** Returns whether an agent runs on `dataDirectory`, even one that does not respond. */
export function isAgentRunning(dataDirectory: string): Promise<boolean> {
  return getFromAgent(dataDirectory, "/status").then(
    (status) => status !== undefined,
    () => true,
  );
}

/** Sends a command, otherwise like {@link getFromAgent}. @throws {ControlRefusal} when the agent refuses it. */
export function postToAgent<T>(
  dataDirectory: string,
  path: string,
  body?: unknown,
  limitMs: number = MAX_RESPONSE_WAIT_MS,
): Promise<T | undefined> {
  return request(dataDirectory, "POST", path, { body, limitMs });
}

async function request<T>(
  dataDirectory: string,
  method: string,
  path: string,
  { body, limitMs }: { readonly body?: unknown; readonly limitMs: number },
): Promise<T | undefined> {
  const address = await readAddress(dataDirectory);
  if (address === undefined) return undefined;
  const agent = `The agent (pid ${address.pid})`;
  try {
    const response = await fetch(`http://127.0.0.1:${address.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${address.secret}` },
      signal: AbortSignal.timeout(limitMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.headers.get(AGENT_HEADER) !== String(address.pid)) return undefined;
    if (response.status === 404)
      throw new CliError(`${agent} is a different version and does not support this command. Restart the agent`);
    const isText = response.headers.get("content-type")?.startsWith("text/plain") === true;
    const content: unknown = isText ? await response.text() : await response.json();
    if (response.status === 422) throw new ControlRefusal(refusalSchema.parse(content).error);
    if (!response.ok) throw new CliError(`${agent} responded with status ${response.status}`);
    return content as T;
  } catch (error) {
    if (error instanceof CliError || error instanceof ControlRefusal) throw error;
    if (isAgentAbsent(error) || !isAlive(address.pid)) return undefined;
    throw new CliError(`${agent} does not respond: ${reasonOf(error)}. Try again; if this continues, stop the process`);
  }
}

/** Returns true if the port is closed, or used by a program that does not speak HTTP. */
function isAgentAbsent(error: unknown): boolean {
  const code = error instanceof Error ? ((error.cause ?? error) as NodeJS.ErrnoException).code : undefined;
  return code === "ECONNREFUSED" || (typeof code === "string" && code.startsWith("HPE_"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Returns the reason of an error, which `fetch` stores in the error's cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

async function readAddress(dataDirectory: string): Promise<ControlAddress | undefined> {
  let text: string;
  try {
    text = await readFile(controlFile(dataDirectory), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return controlAddressSchema.safeParse(parseJson(text)).data;
}

/** Returns undefined when the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
