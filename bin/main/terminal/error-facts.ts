import { stdSerializers } from "pino";

/**
 * Returns the fields of an error that are logged. All other fields are left out, because errors from PostgreSQL quote
 * the values of a statement, which come from clients. Source: PostgreSQL, "Error and Notice Message Fields".
 */
export function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, code } = stdSerializers.err(error);
  return { type, message, stack, ...(code === undefined ? {} : { code: code as unknown }) };
}
