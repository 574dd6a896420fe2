import { readFile } from "node:fs/promises";
import { controlFile, type ControlAddress } from "./control-server.ts";

/** Asks the agent that runs on `dataDirectory`. Undefined when none does (also when it died and left its file). */
export async function askAgent<T>(dataDirectory: string, path: string): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(controlFile(dataDirectory), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const { port, secret } = JSON.parse(text) as ControlAddress;
  let response: Response;
  try {
    response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(5_000),
    });
  } catch {
    // Nothing listens any more: the file is a leftover.
    return undefined;
  }
  if (!response.ok) return undefined;
  return (await response.json()) as T;
}
