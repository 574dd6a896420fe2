/** What an operation looks like in use. Each is checked against the schemas of its operation by test/coordinator/http/openapi.integration.test.ts. */
export interface Example {
  readonly request?: unknown;
  /** Of the JSON answer that tells of success. */
  readonly response?: unknown;
}
/** By operationId. */
export type Examples = Readonly<Record<string, Example>>;

export const JOB_ID = "job_01JGFJJZ00000000000000000A";
export const AT = "2026-01-01T12:00:00.000Z";
export const LATER = "2026-01-01T12:00:01.250Z";
