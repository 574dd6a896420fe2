import type { EncodedSpeech, SpeechFormat } from "./speech-format.ts";
import { wavHead } from "../../../shared/audio/wav-file.ts";
import type { SpeechEvent } from "./speech-schemas.ts";

/** Bytes of one event: 32 KB as base64. */
const EVENT_BYTES = 24_576;

export const SPEECH_MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

/** The file's bytes, piece by piece. `count`: pieces that come, of which each is one recording. */
export async function* speechFile(
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

/** The same bytes as Server-Sent Events in OpenAI's shape. */
export async function* speechEvents(
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
