/** Log levels, from the one that logs the most lines to the one that logs none. Source: pino. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The methods of a logger that the code uses. The logger of pino has them. Code takes only the methods that it needs,
 * for example `Pick<Logger, "warn">`. Fields and messages never contain prompts, completions or secrets.
 */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
