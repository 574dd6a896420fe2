import { parentPort, workerData } from "node:worker_threads";
import { readWav, pcm16Of, type Recording } from "../../../shared/audio/wav-file.ts";
import { resample } from "../../../shared/audio/resample.ts";
import type { SpeechFormat } from "./speech-schemas.ts";

/** Entry of the thread that encodes one recording. Only `speech.ts` starts it. */

export interface EncodingRequest {
  /** The recording as a WAV file in base64. */
  readonly wav: string;
  readonly format: SpeechFormat;
}

export interface EncodedSpeech {
  /** MP3 frames, or samples of 16-bit PCM without a header. */
  readonly bytes: Uint8Array;
  readonly sampleRateHz: number;
}

/** Sample rate of the format `pcm`. Source: OpenAI's API. */
const PCM_RATE_HZ = 24_000;
const MIN_RATE_HZ = 8_000;
const MP3_KBITS = 64;
const MP3_RATES_HZ: readonly number[] = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

async function encode({ wav, format }: EncodingRequest): Promise<EncodedSpeech> {
  const recording = readWav(Buffer.from(wav, "base64"));
  // At a lower rate, few bytes would produce many samples.
  if (recording.sampleRateHz < MIN_RATE_HZ)
    throw new Error(`sample rate must be at least ${MIN_RATE_HZ} Hz, got ${recording.sampleRateHz}`);
  if (format === "mp3") return encodeMp3(recording);
  if (format === "wav") return { bytes: pcm16Of(recording.samples), sampleRateHz: recording.sampleRateHz };
  const samples = resample(recording.samples, recording.sampleRateHz, PCM_RATE_HZ);
  return { bytes: pcm16Of(samples), sampleRateHz: PCM_RATE_HZ };
}

async function encodeMp3({ samples, sampleRateHz }: Recording): Promise<EncodedSpeech> {
  const { createMp3Encoder } = await import("wasm-media-encoders");
  const encoder = await createMp3Encoder();
  const isRate = MP3_RATES_HZ.includes(sampleRateHz);
  const input = isRate ? samples : resample(samples, sampleRateHz, PCM_RATE_HZ);
  const rateHz = isRate ? sampleRateHz : PCM_RATE_HZ;
  encoder.configure({ sampleRate: rateHz, channels: 1, bitrate: MP3_KBITS });
  // The frames are copied: the next call of the encoder overwrites them.
  const frames = Buffer.from(encoder.encode([input]));
  return { bytes: Buffer.concat([frames, encoder.finalize()]), sampleRateHz: rateHz };
}

parentPort?.postMessage(await encode(workerData as EncodingRequest));
