/** Log levels from the most lines to none. Source: pino. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Part of a logger that the code uses; pino's has it. Callers take what they need: `Pick<Logger, "warn">`. Facts and
 * messages never contain prompts, completions or secrets.
 */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
