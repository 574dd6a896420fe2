import { pino, type Logger } from "pino";
import type { LogFormat } from "../../../shared/cli/log-settings.ts";
import type { LogLevel } from "../../../shared/logger.ts";
import { errorFacts } from "./error-facts.ts";

/**
 * Opens the log of a program, which is written to standard error.
 * @param format null for text at a terminal and JSON elsewhere.
 */
export async function openLog(level: LogLevel, format: LogFormat | null): Promise<Logger> {
  const options = { level, serializers: { err: errorFacts } };
  const chosen = format ?? (process.stderr.isTTY ? "text" : "json");
  if (chosen === "json") return pino(options, pino.destination({ dest: 2, sync: true }));
  // The module is loaded here, because programs that log JSON do not need it.
  const { textStream } = await import("./text-log.ts");
  return pino(options, textStream(2, { colors: process.stderr.isTTY && process.stderr.hasColors() }));
}
