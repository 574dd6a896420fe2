import { pino, type Logger } from "pino";
import type { LogFormat } from "../../../shared/cli/log-settings.ts";
import type { LogLevel } from "../../../shared/logger.ts";
import { errorFacts } from "./error-facts.ts";

/** The log of a program, on standard error. @param format null: text at a terminal, JSON elsewhere. */
export async function openLog(level: LogLevel, format: LogFormat | null): Promise<Logger> {
  const options = { level, serializers: { err: errorFacts } };
  const chosen = format ?? (process.stderr.isTTY ? "text" : "json");
  if (chosen === "json") return pino(options, pino.destination({ dest: 2, sync: true }));
  // Loaded here, as programs that log JSON start without it.
  const { textStream } = await import("./text-log.ts");
  return pino(options, textStream(2, { colors: process.stderr.isTTY && process.stderr.hasColors() }));
}
