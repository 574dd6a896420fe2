import { type AutomaticSpeechRecognitionPipeline, Tensor } from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";
import type { OnnxInput } from "../onnx-input.ts";
import { resample } from "../media/resample.ts";
import type { TaskHandler } from "./task-handler.ts";
import { TokenCounter } from "./token-counter.ts";
import { readWav, WavError } from "../media/wav-file.ts";

const MIN_SECONDS = 0.1;
/** Whisper processes a long recording in windows. */
const MAX_SECONDS_WHISPER = 600;
/** Other models take the whole recording at once; their memory grows with the square of its length. */
const MAX_SECONDS_OTHERS = 60;
/** For a Whisper model whose configuration does not say. */
const DEFAULT_WHISPER_POSITIONS = 448;

/** The fields used of a Whisper model's configuration. */
interface WhisperConfig {
  readonly max_target_positions?: number;
}
interface WhisperGeneration {
  readonly is_multilingual?: boolean;
  readonly decoder_start_token_id: number;
  /** From "<|de|>" to its token id. */
  readonly lang_to_id?: Readonly<Record<string, number>>;
}

/** automatic-speech-recognition, with Whisper or with CTC models. */
export const automaticSpeechRecognition: TaskHandler<
  "automatic-speech-recognition",
  AutomaticSpeechRecognitionPipeline
> = async (pipe, input) => {
  const isWhisper = pipe.model.config.model_type === "whisper";
  const config = pipe.processor.feature_extractor?.config as { sampling_rate: number; chunk_length?: number };
  const samples = readSpeech(input.audio, config.sampling_rate, isWhisper ? MAX_SECONDS_WHISPER : MAX_SECONDS_OTHERS);
  if (!isWhisper) {
    rejectWhisperOptions(input);
    const { text } = await pipe(samples);
    return { output: { text } };
  }
  const positions = (pipe.model.config as WhisperConfig).max_target_positions ?? DEFAULT_WHISPER_POSITIONS;
  const count = new TokenCounter(pipe.model, positions);
  const windowS = config.chunk_length ?? 30;
  const { text, chunks } = await pipe(samples, {
    ...(await languageAndTask(pipe, input, samples.subarray(0, windowS * config.sampling_rate))),
    return_timestamps: input.timestamps,
    ...(samples.length > windowS * config.sampling_rate ? { chunk_length_s: windowS } : {}),
    max_length: positions,
    streamer: count.streamer,
  });
  const output = input.timestamps ? { text, chunks: (chunks ?? []).map(chunkOf) } : { text };
  return { output, completionTokens: count.tokens, finishReason: count.finishReason };
};

function chunkOf({ timestamp: [start, end], text }: { timestamp: readonly (number | null)[]; text: string }) {
  return { start_s: start ?? 0, end_s: end ?? null, text };
}

/** @throws {JobFailure} `invalid_input` */
function readSpeech(base64: string, sampleRateHz: number, maxSeconds: number): Float32Array {
  try {
    const recording = readWav(Buffer.from(base64, "base64"));
    const seconds = recording.samples.length / recording.sampleRateHz;
    if (seconds < MIN_SECONDS) throw new WavError(`is ${seconds} s long; at least ${MIN_SECONDS} s are needed`);
    if (seconds > maxSeconds)
      throw new WavError(`is ${Math.ceil(seconds)} s long; the model takes at most ${maxSeconds} s`);
    return resample(recording.samples, recording.sampleRateHz, sampleRateHz);
  } catch (cause) {
    if (cause instanceof WavError) throw new JobFailure("invalid_input", `audio: ${cause.message}`, { cause });
    throw cause;
  }
}

function rejectWhisperOptions({ language, task, timestamps }: OnnxInput<"automatic-speech-recognition">): void {
  if (language !== undefined) throw new JobFailure("invalid_input", "language: this model supports one language only");
  if (task !== "transcribe") throw new JobFailure("invalid_input", "task: this model cannot translate");
  if (timestamps) throw new JobFailure("invalid_input", "timestamps: this model does not report times");
}

/** transformers.js rejects both options for an English-only model, and assumes English for others, so the language is detected here. */
async function languageAndTask(
  pipe: AutomaticSpeechRecognitionPipeline,
  { language, task }: OnnxInput<"automatic-speech-recognition">,
  window: Float32Array,
): Promise<{ language?: string; task?: string }> {
  const { is_multilingual, lang_to_id: tokens = {}, decoder_start_token_id: start } = generationOf(pipe);
  if (is_multilingual !== true) {
    if (language !== undefined && codeOf(language, ["en"]) === undefined) {
      throw new JobFailure("invalid_input", "language: this model supports English only");
    }
    if (task !== "transcribe") throw new JobFailure("invalid_input", "task: this model cannot translate");
    return {};
  }
  const codes = Object.keys(tokens).map((token) => token.slice("<|".length, -"|>".length));
  if (language === undefined) {
    const scores = await firstScores(pipe, window, start);
    const scoreOf = (code: string): number => scores[tokens[`<|${code}|>`] ?? -1] ?? -Infinity;
    const [best] = codes.sort((a, b) => scoreOf(b) - scoreOf(a));
    return best === undefined ? { task } : { language: best, task };
  }
  const code = codeOf(language, codes);
  if (code === undefined) throw new JobFailure("invalid_input", `language: must be one of ${codes.join(", ")}`);
  return { language: code, task };
}

/** Whisper's scores for the first token, which is the language. Source: its paper, §2.3. */
async function firstScores(
  { processor, model }: AutomaticSpeechRecognitionPipeline,
  window: Float32Array,
  startToken: number,
): Promise<ArrayLike<number>> {
  const { input_features } = (await processor(window)) as { input_features: Tensor };
  const decoder_input_ids = new Tensor("int64", [BigInt(startToken)], [1, 1]);
  const { logits } = (await model({ input_features, decoder_input_ids })) as { logits: Tensor };
  return logits.to("float32").data as Float32Array;
}

function generationOf({ model }: AutomaticSpeechRecognitionPipeline): WhisperGeneration {
  return model.generation_config as unknown as WhisperGeneration;
}

/** Finds a language by its code or its English name. */
function codeOf(language: string, codes: readonly string[]): string | undefined {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const wanted = language.toLowerCase();
  return codes.find((code) => code === wanted || names.of(code)?.toLowerCase() === wanted);
}
