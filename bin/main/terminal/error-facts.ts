import { stdSerializers } from "pino";

/**
 * The fields of an error for the log. Others are left out, because PostgreSQL's errors quote values of a statement,
 * which come from clients. Source: PostgreSQL, "Error and Notice Message Fields".
 */
export function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, code } = stdSerializers.err(error);
  return { type, message, stack, ...(code === undefined ? {} : { code: code as unknown }) };
}
