import { ERROR_GUIDE, JOB_ERROR_GUIDE } from "../../shared/error-guide.ts";
import { ERROR_STATUS, JOB_ERROR_CODES, type ErrorCode } from "../../shared/errors.ts";

const HEAD_OF_RESPONSES = "| Code | Status | Meaning | What to do |";
const HEAD_OF_JOBS = "| Code | Meaning | What to do |";

/** Returns the table of error response codes, ordered by status. */
function responseTable(): string {
  const codes = (Object.keys(ERROR_STATUS) as ErrorCode[]).toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b]);
  const rows = codes.map((code) => {
    const { meaning, action } = ERROR_GUIDE[code];
    return `| \`${code}\` | ${statusText(ERROR_STATUS[code])} | ${meaning} | ${action} |`;
  });
  return [HEAD_OF_RESPONSES, "|---|---|---|---|", ...rows].join("\n");
}

/** On paths below `/v1`, 422 becomes 400. */
function statusText(status: number): string {
  return status === 422 ? "422 (400)" : String(status);
}

/** Returns the table of codes of jobs that failed or timed out. */
function jobTable(): string {
  const rows = JOB_ERROR_CODES.map((code) => {
    const { meaning, action } = JOB_ERROR_GUIDE[code];
    return `| \`${code}\` | ${meaning} | ${action} |`;
  });
  return [HEAD_OF_JOBS, "|---|---|---|", ...rows].join("\n");
}

/** Replaces the two tables of error codes in a document. @throws if the head of a table is missing. */
export function withErrorTables(document: string): string {
  return [responseTable(), jobTable()].reduce((text, table) => {
    const [head = ""] = table.split("\n");
    const start = text.indexOf(`${head}\n`);
    if (start === -1) throw new Error(`The document has no table with the head ${head}`);
    return text.slice(0, start) + text.slice(start).replace(/^(?:\|.*\n)+/, () => `${table}\n`);
  }, document);
}
