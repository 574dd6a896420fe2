import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CliError } from "../../shared/errors.ts";
import { AGENT_HEADER, controlAddressSchema, controlFile, type ControlAddress } from "./control-server.ts";

/** A command waits so long for an answer. */
const ANSWER_LIMIT_MS = 5_000;
const refusalSchema = z.object({ error: z.string() });

/** The agent understood what it was told and could not do it; its message is for the user. */
export class ControlRefusal extends CliError {
  override readonly name = "ControlRefusal";
}

/**
 * Asks the agent that runs on `dataDirectory`. Undefined when none does, also when one died and left its file, whatever is
 * in it and whoever listens on its port now.
 * @throws {CliError} when one runs that does not answer, or not as it should.
 */
export function askAgent<T>(dataDirectory: string, path: string): Promise<T | undefined> {
  return request(dataDirectory, "GET", path, { limitMs: ANSWER_LIMIT_MS });
}

/** Tells the agent to do something. Undefined and CliError as of `askAgent`. @throws {ControlRefusal} */
export function tellAgent<T>(
  dataDirectory: string,
  path: string,
  body?: unknown,
  limitMs: number = ANSWER_LIMIT_MS,
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
    if (response.status === 404) throw new CliError(`${agent} does not know this command: is it of another version?`);
    const answer: unknown = await response.json();
    if (response.status === 422) throw new ControlRefusal(refusalSchema.parse(answer).error);
    if (!response.ok) throw new CliError(`${agent} answered ${response.status}`);
    return answer as T;
  } catch (error) {
    if (error instanceof CliError || error instanceof ControlRefusal) throw error;
    if (isNobodyThere(error) || !isAlive(address.pid)) return undefined;
    throw new CliError(`${agent} does not answer; if that lasts, end it by its process id: ${reasonOf(error)}`);
  }
}

/** Nothing listens on the port, or something that does not speak HTTP. */
function isNobodyThere(error: unknown): boolean {
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

/** `fetch` hides why in the cause. */
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

/** Undefined for text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
