import { afterAll, afterEach } from "vitest";
import { ResponseWatch, isWatched, takeProblems } from "./response-watch.ts";
import { endFile } from "../file-end.ts";

/*
 * Runs before every test file. Checks all responses of a coordinator to a test, the openai client, the AI SDK or our client against the
 * OpenAPI document. An undocumented response fails the test, regardless of its subject.
 */

/** Marks a watched fetch, because the files of one worker share it. */
const IS_WATCHED = Symbol.for("atoll.test.watched-fetch");

const watchedFetch =
  (plainFetch: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await plainFetch(input, init);
    // The address that responded, which may differ after redirects.
    const url = new URL(response.url);
    if (!isWatched(url) || isAnthropicModels(url, input, init)) return response;
    const { status, headers } = response;
    const method = (init?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
    const sent = typeof init?.body === "string" ? init.body : undefined;
    const watch = await ResponseWatch.begin({ method, path: url.pathname, status, headers, sent });
    if (watch.isStream) return copyOf(response, response.body?.pipeThrough(tap(watch)) ?? null);
    const bytes = new Uint8Array(await response.arrayBuffer());
    watch.push(bytes);
    watch.end();
    return copyOf(response, response.body === null ? null : bytes);
  };

/** Returns whether the request gets models in Anthropic's format, which the document does not contain. */
function isAnthropicModels({ pathname }: URL, input: Parameters<typeof fetch>[0], init?: RequestInit): boolean {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
  return headers.has("anthropic-version") && /\/v1\/models(\/|$)/.test(pathname);
}

/** Returns a stream that passes data through and preserves back-pressure. */
function tap(watch: ResponseWatch): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream(
    {
      transform(bytes, controller) {
        watch.push(bytes);
        controller.enqueue(bytes);
      },
    },
    { highWaterMark: 1 },
    { highWaterMark: 0 },
  );
}

function copyOf(response: Response, body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null): Response {
  const { status, statusText, headers, url } = response;
  const copy = new Response(body, { status, statusText, headers });
  Object.defineProperty(copy, "url", { value: url });
  return copy;
}

if (!(IS_WATCHED in globalThis)) {
  globalThis.fetch = watchedFetch(globalThis.fetch);
  Object.defineProperty(globalThis, IS_WATCHED, { value: true });
}

afterAll(endFile);
afterEach(() => {
  const problems = takeProblems();
  if (problems.length > 0) throw new Error(`Responses differ from the OpenAPI document:\n${problems.join("\n")}`);
});
