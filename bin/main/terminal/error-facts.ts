import { stdSerializers } from "pino";

/**
 * What the log has of an error. No other fields: those of PostgreSQL's errors quote rows and values of a statement, and so what clients
 * sent. Source: PostgreSQL, "Error and Notice Message Fields".
 */
export function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, code } = stdSerializers.err(error);
  return { type, message, stack, ...(code === undefined ? {} : { code: code as unknown }) };
}
