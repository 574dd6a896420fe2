/** Levels from the most lines to none. Source: pino. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The part of a logger that the code uses; pino's has it. A part takes what it needs: `Pick<Logger, "warn">`.
 * Facts and messages never hold prompts, answers or secrets.
 */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
