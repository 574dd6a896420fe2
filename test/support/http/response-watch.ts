import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalPath, isVendorPath } from "../../../coordinator/http/vendor-paths.ts";
import { EventTexts } from "../event-texts.ts";
import type { ReceivedResponse, ResponseValidator } from "./openapi.ts";

type Head = Omit<ReceivedResponse, "body"> & {
  /** The body of the request, if it was text. */
  readonly sent?: string | undefined;
};

const API = "/api/v1/";
/** A folder for the examples of the OpenAPI document. `npm run docs:examples` reads what tests sent and received. */
const RECORDS = process.env["ATOLL_RECORD_EXAMPLES"];
/** Origins of coordinators of this source tree. */
const origins = new Set<string>();
const problems: string[] = [];
let validator: ResponseValidator | undefined;

/** Checks a coordinator's responses against the OpenAPI document from now on. @param url its address. */
export function watchOrigin(url: string): void {
  origins.add(new URL(url).origin);
}

/** Stops checking an origin, since another process may use its port soon. */
export function unwatchOrigin(url: string): void {
  origins.delete(new URL(url).origin);
}

export function isWatched({ origin, pathname }: URL): boolean {
  return origins.has(origin) && (pathname.startsWith(API) || isVendorPath(pathname));
}

/** Returns the distinct problems found since the last call. */
export function takeProblems(): string[] {
  return [...new Set(problems.splice(0))];
}

/** Checks the body of a webhook against the document. */
export async function watchWebhook(body: { readonly type: string }): Promise<void> {
  const found = (await currentValidator()).webhookProblems(body);
  problems.push(...found);
  if (found.length === 0)
    record({ operationId: body.type.startsWith("batch.") ? "batchFinished" : "jobEnded", request: body });
}

/** Records a call for `npm run docs:examples`. */
function record(call: object): void {
  if (RECORDS !== undefined) appendFileSync(join(RECORDS, `${process.pid}.jsonl`), `${JSON.stringify(call)}\n`);
}

/** Loads the validator on first use, because it loads the whole API and most test files do not need it. */
async function currentValidator(): Promise<ResponseValidator> {
  const { ResponseValidator: Validator, currentDocument } = await import("./openapi.ts");
  validator ??= new Validator(currentDocument());
  return validator;
}

/** Checks one response on its way to a client: each event of a stream, or the complete body of another response. */
export class ResponseWatch {
  readonly isStream: boolean;
  readonly #head: Head;
  readonly #validator: ResponseValidator;
  readonly #chunks: Uint8Array[] = [];
  readonly #events: EventTexts;

  private constructor(head: Head, validator: ResponseValidator) {
    this.#head = head;
    this.#validator = validator;
    this.#events = new EventTexts((event) => problems.push(...validator.eventProblems(head, event)));
    this.isStream = head.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (this.isStream) problems.push(...validator.problems({ ...head, body: null }));
  }

  static async begin(head: Head): Promise<ResponseWatch> {
    return new ResponseWatch(head, await currentValidator());
  }

  push(bytes: Uint8Array): void {
    if (this.isStream) this.#events.push(bytes);
    else this.#chunks.push(bytes);
  }

  /** Checks a complete body. */
  end(): void {
    if (this.isStream) return;
    const { method, path, status, sent } = this.#head;
    const body = Buffer.concat(this.#chunks).toString("utf8");
    const found = this.#validator.problems({ ...this.#head, body });
    problems.push(...found);
    if (RECORDS === undefined || found.length > 0 || status >= 300 || status === 202) return;
    const operation = this.#validator.operation(method, canonicalPath(path));
    record({ operationId: operation?.operationId, request: parsed(sent), response: parsed(body) });
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
