/** A request and an answer of an operation. test/coordinator/http/openapi/openapi.integration.test.ts checks both against its schemas. */
export interface Example {
  readonly request?: unknown;
  /** The JSON of a successful answer. */
  readonly response?: unknown;
}
/** By operationId. */
export type Examples = Readonly<Record<string, Example>>;

export const JOB_ID = "job_01JGFJJZ00000000000000000A";
export const ACCOUNT_ID = "user_01JGFJJZ00000000000000000G";
export const AT = "2026-01-01T12:00:00.000Z";
export const LATER = "2026-01-01T12:00:01.250Z";
