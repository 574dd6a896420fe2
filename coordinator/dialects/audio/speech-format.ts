/** Formats of spoken text. Names: OpenAI's API. */
export const SPEECH_FORMATS = ["mp3", "wav", "pcm"] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

export interface EncodingRequest {
  /** A WAV file in base64. */
  readonly wav: string;
  readonly format: SpeechFormat;
}

export interface EncodedSpeech {
  /** Frames of MP3, or samples of 16-bit PCM without a head. */
  readonly bytes: Uint8Array;
  readonly sampleRateHz: number;
}
