import { CHAT } from "./chat.ts";
import type { Http } from "../http.ts";
import type { SpeechRequest, Transcription } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface TranslationOptions {
  /** Slug of a speech-to-text Cargo; default: the operator's. */
  readonly model?: string | undefined;
  /** Default: json. `verbose_json` adds timestamps. */
  readonly response_format?: "json" | "verbose_json" | undefined;
}

export interface TranscriptionOptions extends TranslationOptions {
  readonly language?: string | undefined;
  readonly timestamp_granularities?: readonly ("segment" | "word")[] | undefined;
}

export class AudioResource {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Converts text to speech and streams the bytes of the audio file. The coordinator cancels the job when the connection closes. */
  speech(
    body: Omit<SpeechRequest, "stream_format">,
    options?: CallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#http.chunks("post", "/audio/speech", { body }, options, CHAT);
  }

  /** Transcribes speech. `file`: a WAV file. */
  transcribe(file: Blob, fields: TranscriptionOptions = {}, options?: CallOptions): Promise<Transcription> {
    const traits = { ...CHAT, form: formOf(file, fields) };
    return this.#http.call("post", "/audio/transcriptions", {}, options, traits);
  }

  /** Translates speech to English text. `file`: a WAV file. */
  translate(file: Blob, fields: TranslationOptions = {}, options?: CallOptions): Promise<Transcription> {
    const traits = { ...CHAT, form: formOf(file, fields) };
    return this.#http.call("post", "/audio/translations", {}, options, traits);
  }
}

function formOf(file: Blob, fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields) as [string, string | readonly string[] | undefined][]) {
    if (typeof value === "string") form.append(name, value);
    else for (const each of value ?? []) form.append(`${name}[]`, each);
  }
  form.append("file", file, "sound.wav");
  return form;
}
