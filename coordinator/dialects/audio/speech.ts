import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { wavHead } from "../../../shared/audio/wav-file.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { eventStream } from "../../http/schemas/responses.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import type { EncodedSpeech, EncodingRequest } from "./speech-worker.ts";
import {
  maxPieceCharsOf,
  speechBodySchema,
  type SpeechEvent,
  speechEventSchema,
  type SpeechFormat,
  speechInputOf,
  wavOf,
} from "./speech-schemas.ts";

/** Maximum recordings that are encoded concurrently. The event loop and storage need the other cores. */
const MAX_THREADS = 1;
/** Maximum time to encode a recording. A minute of speech takes well under a second. */
const ENCODING_TIMEOUT_MS = 30_000;
const HEAP_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/** Maximum audio bytes of one event: 32 KB as base64. */
const EVENT_BYTES = 24_576;
const MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

/** Memory that a recording takes, as text of its job's output, as base64 and as bytes. */
const PIECE_BYTES = 24 * MIB;

const fileMedia = { schema: z.string().openapi({ format: "binary" }) };
export const speechRoutes = routeGroup("/audio/speech", { tag: "Chat", style: "openai" }, (routes, deps) => {
  const encode = speechEncoder();
  routes.post("", {
    id: "createSpeech",
    is: "Generate speech from a text",
    about:
      "A speech Cargo generates the audio. A long text is split between sentences into several jobs, which run one after the other; the audio of each is sent as soon as it is ready. If the client disconnects, the jobs are cancelled. If a later job fails, the connection is closed.",
    ...WAITS_FOR_JOBS,
    body: speechBodySchema,
    responses: {
      200: {
        description: "The audio file, or with `stream_format: sse` its events",
        content: {
          ...Object.fromEntries(Object.values(MEDIA_TYPES).map((type) => [type, fileMedia])),
          ...eventStream(speechEventSchema),
        },
      },
    },
  })(async (call) => {
    const { c, identity, body } = call;
    const cargo = await findModelFor("speech", deps.catalog, body.model, identity.accountId);
    const { outgoing: response } = c.env;
    // The stream is opened before the submission, so that audio that may not be sent is not charged.
    const limits = c.get("limits");
    await limits.openStream(identity, response);
    limits.holdStream(response, PIECE_BYTES);
    const inputs = splitText(body.input, maxPieceCharsOf(cargo)).map((text) => speechInputOf(body, text));
    const format = body.response_format ?? "mp3";
    const client = requestContextOf(call);
    const encodeWav = (wav: string): Promise<EncodedSpeech> => encode({ wav, format }, client.signal);
    const rest = recordTexts(deps, client, { slug: cargo.slug, inputs, encodeWav });
    // No header is sent before the first recording is complete, so that a failure can still set the status.
    const { value: first } = await rest.next();
    if (first === undefined) return null;
    let tokens = first.promptTokens;
    const file = async function* (): AsyncGenerator<Uint8Array, void, void> {
      if (format === "wav") yield wavHead(first.sampleRateHz, inputs.length === 1 ? first.bytes.length : null);
      yield first.bytes;
      for await (const { bytes, promptTokens } of rest) {
        tokens += promptTokens;
        yield bytes;
      }
    };
    if (body.stream_format !== "sse") {
      return c.body(ReadableStream.from(file()), 200, { "Content-Type": MEDIA_TYPES[format] });
    }
    const events = speechEvents(file(), () => ({ input_tokens: tokens, output_tokens: 0, total_tokens: tokens }));
    const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store" };
    return c.body(ReadableStream.from(events), 200, headers);
  });
});

interface SpeechTask {
  readonly slug: string;
  readonly inputs: readonly JobInput[];
  readonly encodeWav: (wav: string) => Promise<EncodedSpeech>;
}

/** Runs a job for each input and yields its recording. Ends early if the client has disconnected. */
async function* recordTexts(
  deps: JobRunDeps,
  client: RequestContext,
  { slug, inputs, encodeWav }: SpeechTask,
): AsyncGenerator<EncodedSpeech & { readonly promptTokens: number }, void, void> {
  const fieldOf = (path: string): string => (path === "text" ? "input" : path);
  for (const input of inputs) {
    const made = await runForOutput(deps, client, { slug, input, fieldOf });
    if (made === null) return;
    const wav = wavOf(made.output);
    if (wav === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a WAV file");
    yield { ...(await encodeWav(wav)), promptTokens: made.usage.promptTokens };
  }
}

/** Yields the audio file as Server-Sent Events in OpenAI's format. */
async function* speechEvents(
  file: AsyncIterable<Uint8Array>,
  usage: () => Extract<SpeechEvent, { type: "speech.audio.done" }>["usage"],
): AsyncGenerator<Uint8Array, void, void> {
  for await (const bytes of file) {
    for (let at = 0; at < bytes.length; at += EVENT_BYTES) {
      const audio = Buffer.from(bytes.subarray(at, at + EVENT_BYTES)).toString("base64");
      yield eventOf({ type: "speech.audio.delta", audio });
    }
  }
  yield eventOf({ type: "speech.audio.done", usage: usage() });
}

function eventOf(event: SpeechEvent): Uint8Array {
  return Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Returns a function that encodes recordings in threads. @throws {ServiceError} `job_failed` for invalid WAV files */
function speechEncoder() {
  const threads = new Semaphore<null>(MAX_THREADS);
  return async (request: EncodingRequest, signal: AbortSignal): Promise<EncodedSpeech> => {
    await threads.acquire(null, signal);
    try {
      return await encodeInThread(request);
    } finally {
      threads.release();
    }
  };
}

async function encodeInThread(request: EncodingRequest): Promise<EncodedSpeech> {
  const file = new URL(`./speech-worker.${import.meta.url.slice(-2)}`, import.meta.url);
  const thread = new Worker(file, { workerData: request, env: {}, resourceLimits: HEAP_LIMITS });
  try {
    const [encoded] = await once(thread, "message", { signal: AbortSignal.timeout(ENCODING_TIMEOUT_MS) });
    return encoded as EncodedSpeech;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("job_failed", `The Cargo's output cannot be encoded: ${reason}`, { cause });
  } finally {
    await thread.terminate();
  }
}

/**
 * Splits a text into pieces of at most `maxChars` UTF-16 units. A split is between sentences, in a longer sentence
 * between words, and in a longer word between characters. No piece consists of white space only.
 */
export function splitText(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const part of segmentsOf(text, "sentence", maxChars)) {
    if (piece.length + part.length > maxChars) {
      pieces.push(piece);
      piece = "";
    }
    piece += part;
  }
  return [...pieces, piece].map((each) => each.trim()).filter((each) => each !== "");
}

function* segmentsOf(text: string, granularity: "sentence" | "word", maxChars: number): Generator<string, void, void> {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity }).segment(text)) {
    if (segment.length <= maxChars) yield segment;
    else yield* granularity === "sentence" ? segmentsOf(segment, "word", maxChars) : segment;
  }
}
