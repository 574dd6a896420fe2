import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { wavHead } from "../../../shared/audio/wav-file.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Usage } from "../../../shared/output.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { eventStream } from "../../http/schemas/responses.ts";
import { type RequestContext, requestContextOf } from "../../http/streaming/request-context.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";
import type { EncodedSpeech, EncodingRequest } from "./speech-worker.ts";
import {
  pieceCharsOf,
  presentSpeechUsage,
  type SpeechBody,
  speechBodySchema,
  type SpeechEvent,
  speechEventSchema,
  speechFieldOf,
  type SpeechFormat,
  speechInputOf,
  spokenWavOf,
} from "./speech-schemas.ts";

/** Maximum recordings that are encoded at a time: the event loop and storage need the other cores. */
const MAX_THREADS = 1;
/** Time limit. A minute of speech takes well under a second. */
const LIMIT_MS = 30_000;
const HEAP_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/** Audio bytes in one event: 32 KB as base64. */
const EVENT_BYTES = 24_576;
const MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

/** Memory of a recording as the text of its job's output, as base64 and as bytes. */
const PIECE_BYTES = 24 * MIB;

const file = { schema: z.string().openapi({ format: "binary" }) };
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
        description: "The file, or its events with `stream_format: sse`",
        content: {
          ...Object.fromEntries(Object.values(MEDIA_TYPES).map((type) => [type, file])),
          ...eventStream(speechEventSchema),
        },
      },
    },
  })(async (call) => {
    const { c, identity, body } = call;
    const cargo = await findModelFor("speech", deps.catalog, body.model, identity.accountId);
    const { outgoing: response } = c.env;
    // Before the submission, so that audio that may not be sent is not charged.
    const limits = c.get("limits");
    await limits.openStream(identity, response);
    limits.holdStream(response, PIECE_BYTES);
    const texts = speechPieces(body.input, pieceCharsOf(cargo));
    const usages: Usage[] = [];
    const pieces = spoken({ deps, encode, client: requestContextOf(call), cargo, body, texts, usages });
    // No header is sent before the first recording is there, so that a failure can still have its status.
    const first = await pieces.next();
    if (first.done === true) return null;
    const format = body.response_format ?? "mp3";
    const bytes = speechFile(beginningWith(first.value, pieces), format, texts.length);
    if (body.stream_format !== "sse") {
      return c.body(ReadableStream.from(bytes), 200, { "Content-Type": MEDIA_TYPES[format] });
    }
    const events = speechEvents(bytes, () => presentSpeechUsage(usages));
    return c.body(ReadableStream.from(events), 200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
    });
  });
});

interface Speaking {
  readonly deps: HttpDeps;
  readonly encode: ReturnType<typeof speechEncoder>;
  readonly client: RequestContext;
  readonly cargo: CatalogEntry;
  readonly body: SpeechBody;
  readonly texts: readonly string[];
  /** Receives the usage of each job. */
  readonly usages: Usage[];
}

/** Yields the recording of each text. Ends early if the client has disconnected. */
async function* spoken(speaking: Speaking): AsyncGenerator<EncodedSpeech, void, void> {
  const { deps, encode, client, cargo, body, texts, usages } = speaking;
  for (const text of texts) {
    const input = speechInputOf(body, text);
    const made = await runForOutput(deps, client, { slug: cargo.slug, input, fieldOf: speechFieldOf });
    if (made === null) return;
    const wav = spokenWavOf(made.output);
    if (wav === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a WAV file");
    usages.push(made.usage);
    yield await encode({ wav, format: body.response_format ?? "mp3" }, client.signal);
  }
}

async function* beginningWith<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield first;
  yield* rest;
}

/**
 * Yields the bytes of the file in pieces.
 * @param count Number of recordings in `pieces`.
 */
async function* speechFile(
  pieces: AsyncIterable<EncodedSpeech>,
  format: SpeechFormat,
  count: number,
): AsyncGenerator<Uint8Array, void, void> {
  let isFirst = true;
  for await (const { bytes, sampleRateHz } of pieces) {
    if (isFirst && format === "wav") yield wavHead(sampleRateHz, count === 1 ? bytes.length : null);
    isFirst = false;
    yield bytes;
  }
}

/** Yields the file as Server-Sent Events in OpenAI's format. */
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

/**
 * Creates an encoder of recordings, each in its own thread. Throws `signal.reason` if aborted before its turn.
 * @throws {ServiceError} `job_failed` for output that is not a WAV file or takes too long.
 */
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
    const [encoded] = await once(thread, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
    return encoded as EncodedSpeech;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("job_failed", `The Cargo's output cannot be encoded: ${reason}`, { cause });
  } finally {
    await thread.terminate();
  }
}

/**
 * Splits a text into pieces of at most `maxChars` UTF-16 units: between sentences, in longer sentences between words,
 * in longer words between characters. No piece is only white space.
 */
export function speechPieces(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const part of partsOf(text, maxChars)) {
    if (piece.length + part.length > maxChars) {
      pieces.push(piece);
      piece = "";
    }
    piece += part;
  }
  return [...pieces, piece].map((each) => each.trim()).filter((each) => each !== "");
}

function* partsOf(text: string, maxChars: number): Generator<string, void, void> {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)) {
    if (segment.length <= maxChars) yield segment;
    else yield* wordsOf(segment, maxChars);
  }
}

function* wordsOf(sentence: string, maxChars: number): Generator<string, void, void> {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(sentence)) {
    if (segment.length <= maxChars) yield segment;
    else yield* segment;
  }
}
