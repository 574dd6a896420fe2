import { readFile } from "node:fs/promises";
import { z } from "zod";
import { controlAddressSchema, controlFile, type ControlAddress } from "./control-server.ts";

/** A command waits so long for an answer. */
const ANSWER_LIMIT_MS = 5_000;
const refusalSchema = z.object({ error: z.string() });

/** The agent understood what it was told and could not do it; its message is for the user. */
export class ControlRefusal extends Error {
  override readonly name = "ControlRefusal";
}

/**
 * Asks the agent that runs on `dataDirectory`. Undefined when none does, also when one died and left its file, whatever is
 * in it and whoever listens on its port now.
 */
export function askAgent<T>(dataDirectory: string, path: string): Promise<T | undefined> {
  return request(dataDirectory, "GET", path, { limitMs: ANSWER_LIMIT_MS });
}

/** Tells the agent to do something. Undefined as of `askAgent`. @throws {ControlRefusal} */
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
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(`http://127.0.0.1:${address.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${address.secret}` },
      signal: AbortSignal.timeout(limitMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    answer = await response.json();
  } catch {
    return undefined;
  }
  if (response.status === 422) throw new ControlRefusal(refusalSchema.parse(answer).error);
  return response.ok ? (answer as T) : undefined;
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
