import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Usage } from "../../../shared/output.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { findModelFor, type ModelNeed } from "../../catalog/find-model.ts";
import { modelKindOf } from "../../catalog/model-kind.ts";
import { SpeechEncoder } from "./speech-encoder.ts";
import type { EncodedSpeech } from "./speech-format.ts";
import { speechPieces } from "./speech-pieces.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { routeGroup } from "../../http/route-group.ts";
import { eventStream } from "../../http/schemas/responses.ts";
import {
  pieceCharsOf,
  presentSpeechUsage,
  speechBodySchema,
  speechEventSchema,
  speechFieldOf,
  speechInputOf,
  spokenWavOf,
  type SpeechBody,
} from "./speech-schemas.ts";
import { SPEECH_MEDIA_TYPES, speechEvents, speechFile } from "./speech-stream.ts";
import { waitingClientOf, type WaitingClient } from "../../http/streaming/waiting-client.ts";
import { wholeOutput } from "../../http/streaming/whole-output.ts";

const SPEAKS: ModelNeed = {
  isMet: (cargo) => modelKindOf(cargo) === "speech",
  defaultIn: (catalog) => catalog.defaultSlug("speech"),
  verb: "speak",
};

/** A recording as the text of its job's output, as base64 and as bytes. */
const PIECE_BYTES = 24 * MIB;

const file = { schema: z.string().openapi({ format: "binary" }) };
export const speechRoutes = routeGroup("/audio/speech", { tag: "Chat", style: "openai" }, (routes, deps) => {
  const encoder = new SpeechEncoder();
  routes.post("", {
    id: "createSpeech",
    is: "Speak a text",
    about:
      "In OpenAI's shape, by a Cargo that speaks. A long text is several jobs, one after the other, and each is sent as soon as it is spoken. Like a chat they wait for an Island and are cancelled when the client disconnects. When a later one fails, the connection is cut.",
    access: "write",
    isCompatible: true,
    body: speechBodySchema,
    answers: {
      200: {
        description: "The file, or its events with `stream_format: sse`",
        content: {
          ...Object.fromEntries(Object.values(SPEECH_MEDIA_TYPES).map((type) => [type, file])),
          ...eventStream(speechEventSchema),
        },
      },
    },
    fails: [402, 404, 409],
  })(async (call) => {
    const { c, identity, body } = call;
    const cargo = await findModelFor(SPEAKS, deps.catalog, body.model, identity.accountId);
    const { outgoing: response } = c.env;
    // Before the submission: what may not be sent must not be paid for.
    const limits = c.get("limits");
    await limits.openStream(identity, response);
    limits.holdStream(response, PIECE_BYTES);
    const texts = speechPieces(body.input, pieceCharsOf(cargo));
    const usages: Usage[] = [];
    const pieces = spoken({ deps, encoder, client: waitingClientOf(call), cargo, body, texts, usages });
    // No header is sent before the first is there, so that a failure can still have its status.
    const first = await pieces.next();
    if (first.done === true) return null;
    const format = body.response_format ?? "mp3";
    const bytes = speechFile(beginningWith(first.value, pieces), format, texts.length);
    if (body.stream_format !== "sse") {
      return c.body(ReadableStream.from(bytes), 200, { "Content-Type": SPEECH_MEDIA_TYPES[format] });
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
  readonly encoder: SpeechEncoder;
  readonly client: WaitingClient;
  readonly cargo: CatalogEntry;
  readonly body: SpeechBody;
  readonly texts: readonly string[];
  /** Gets the usage of each job. */
  readonly usages: Usage[];
}

/** Each text as its job has spoken it. Ends early when the client has left. */
async function* spoken(speaking: Speaking): AsyncGenerator<EncodedSpeech, void, void> {
  const { deps, encoder, client, cargo, body, texts, usages } = speaking;
  for (const text of texts) {
    const input = speechInputOf(body, text);
    const made = await wholeOutput(deps, client, { slug: cargo.slug, input, fieldOf: speechFieldOf });
    if (made === null) return;
    const wav = spokenWavOf(made.output);
    if (wav === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a WAV file");
    usages.push(made.usage);
    yield await encoder.encode({ wav, format: body.response_format ?? "mp3" }, client.gone);
  }
}

async function* beginningWith<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield first;
  yield* rest;
}
