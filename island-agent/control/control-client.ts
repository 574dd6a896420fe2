import { readFile } from "node:fs/promises";
import { controlAddressSchema, controlFile, type ControlAddress } from "./control-server.ts";

/**
 * Asks the agent that runs on `dataDirectory`. Undefined when none does, also when one died and left its file, whatever is
 * in it and whoever listens on its port now.
 */
export async function askAgent<T>(dataDirectory: string, path: string): Promise<T | undefined> {
  const address = await readAddress(dataDirectory);
  if (address === undefined) return undefined;
  try {
    const response = await fetch(`http://127.0.0.1:${address.port}${path}`, {
      headers: { authorization: `Bearer ${address.secret}` },
      signal: AbortSignal.timeout(5_000),
    });
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
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
