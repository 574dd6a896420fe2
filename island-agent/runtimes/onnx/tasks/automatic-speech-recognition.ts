import { type AutomaticSpeechRecognitionPipeline, Tensor } from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";
import type { OnnxInput } from "../onnx-input.ts";
import { resampleInSteps } from "../../../../shared/audio/resample.ts";
import type { SessionGate } from "../session-gate.ts";
import { transcribeInChunks } from "./long-speech.ts";
import type { TaskHandler } from "./task-handler.ts";
import { TokenCounter } from "./token-counter.ts";
import { readWav, type Recording, WavError } from "../../../../shared/audio/wav-file.ts";

const MIN_SECONDS = 0.1;
/** Maximum length for Whisper, which transcribes a long recording in windows. The samples of 30 minutes take 115 MB. */
const MAX_SECONDS_WHISPER = 1_800;
/** Maximum length for other models, whose memory grows with the square of the recording's length. */
const MAX_SECONDS_OTHERS = 60;
/** Maximum number of windows (features of 1 to 1.5 MB each): 30 minutes in windows of 30 s, overlapping by 5 s. */
const MAX_WINDOWS = 100;
/** Default for a Whisper model whose configuration does not specify it. */
const DEFAULT_WHISPER_POSITIONS = 448;
/** Maximum number of tokens that precede Whisper's text: start, language, task, and "no timestamps". */
const START_TOKENS = 4;
/** Prefix of the names of a decoder's attention outputs; the number of the layer follows. */
const CROSS_ATTENTIONS = "cross_attentions.";

/** Fields of a Whisper model's configuration that are used here. */
interface WhisperConfig {
  readonly max_target_positions?: number;
}
interface WhisperGeneration {
  readonly is_multilingual?: boolean;
  readonly decoder_start_token_id: number;
  /** Attention heads that follow the audio, as [layer, head]. */
  readonly alignment_heads?: readonly (readonly [number, number])[];
  /** Token ids by language token, such as "<|de|>". */
  readonly lang_to_id?: Readonly<Record<string, number>>;
}

export const automaticSpeechRecognition: TaskHandler<
  "automatic-speech-recognition",
  AutomaticSpeechRecognitionPipeline
> = async (pipe, input, { gate, onProgress }) => {
  const isWhisper = pipe.model.config.model_type === "whisper";
  const config = pipe.processor.feature_extractor?.config as { sampling_rate: number; chunk_length?: number };
  const recording = readSpeech(input.audio, isWhisper ? MAX_SECONDS_WHISPER : MAX_SECONDS_OTHERS);
  const samples = await resampled(recording, config.sampling_rate, gate);
  if (!isWhisper) {
    rejectWhisperOptions(input);
    const { text } = await pipe(samples);
    return { output: { text } };
  }
  if (input.timestamps === "word") assertWordTimes(pipe);
  const positions = (pipe.model.config as WhisperConfig).max_target_positions ?? DEFAULT_WHISPER_POSITIONS;
  const count = new TokenCounter(pipe.model, positions);
  const windowS = config.chunk_length ?? 30;
  const seconds = samples.length / config.sampling_rate;
  const isWindowed = input.chunk_length_s !== undefined || input.stride_length_s !== undefined;
  const isCutInPauses = !isWindowed && seconds > windowS;
  const windows = isWindowed ? planWindows(input, seconds, windowS) : {};
  const options = {
    ...(await languageAndTask(pipe, input, samples.subarray(0, windowS * config.sampling_rate))),
    return_timestamps: input.timestamps === "word" ? ("word" as const) : input.timestamps !== false,
    // With `max_length` transformers.js repeats a window until its times advance, possibly forever.
    max_new_tokens: positions - START_TOKENS,
    streamer: count.streamer,
  };
  const { text, chunks } = isCutInPauses
    ? await transcribeInChunks(samples, config.sampling_rate, windowS, (part, index, parts) => {
        if (index > 0) onProgress(index, parts);
        return pipe(part, options);
      })
    : await pipe(samples, { ...options, ...windows });
  const output = input.timestamps === false ? { text } : { text, chunks: (chunks ?? []).map(chunkOf) };
  return { output, completionTokens: count.tokens, finishReason: count.finishReason };
};

function chunkOf({ timestamp: [start, end], text }: { timestamp: readonly (number | null)[]; text: string }) {
  return { start_s: start ?? 0, end_s: end ?? null, text };
}

/**
 * Plans the windows of a recording if the client sets them. They overlap by the stride on both sides, and
 * transformers.js joins their texts where they agree. Returns {} for a recording that fits one window.
 * @throws {JobFailure} `invalid_input`
 */
function planWindows(
  { chunk_length_s: chunkS, stride_length_s: strideS }: OnnxInput<"automatic-speech-recognition">,
  seconds: number,
  windowS: number,
): { chunk_length_s?: number; stride_length_s?: number } {
  const chunk = chunkS ?? windowS;
  if (chunk > windowS)
    throw new JobFailure(
      "invalid_input",
      `chunk_length_s: must be at most ${windowS} s, the model's window, got ${chunk} s`,
    );
  const stride = strideS ?? chunk / 6;
  // If less than half of each window were new, a long recording would take many times its length.
  if (stride > chunk / 4)
    throw new JobFailure(
      "invalid_input",
      `stride_length_s: must be at most ${chunk / 4} s, a quarter of the window, got ${stride} s`,
    );
  const windows = Math.ceil(seconds / (chunk - 2 * stride));
  // transformers.js first computes the features of all windows, each as large as those of a whole one.
  if (windows > MAX_WINDOWS) {
    const name = chunkS === undefined ? "stride_length_s" : "chunk_length_s";
    throw new JobFailure(
      "invalid_input",
      `${name}: ${chunkS ?? stride} s splits the audio into ${windows} windows, but at most ${MAX_WINDOWS} are allowed. Use a longer chunk_length_s, a shorter stride_length_s or shorter audio`,
    );
  }
  return seconds > chunk ? { chunk_length_s: chunk, stride_length_s: stride } : {};
}

/**
 * Checks for the decoder's cross attentions, the source of word times, which only some exports have. @throws
 * {JobFailure} `invalid_input`
 */
function assertWordTimes(pipe: AutomaticSpeechRecognitionPipeline): void {
  const outputs = Object.values(pipe.model.sessions as Readonly<Record<string, { outputNames: readonly string[] }>>);
  const hasAttentions = outputs.some(({ outputNames }) =>
    outputNames.some((name) => name.startsWith(CROSS_ATTENTIONS)),
  );
  if (hasAttentions && generationOf(pipe).alignment_heads !== undefined) return;
  throw new JobFailure(
    "invalid_input",
    "timestamps: this model reports only segment times, because its export lacks cross attentions (`output_attentions`) or `alignment_heads`",
  );
}

/** @throws {JobFailure} `invalid_input` */
function readSpeech(base64: string, maxSeconds: number): Recording {
  try {
    const recording = readWav(Buffer.from(base64, "base64"));
    const seconds = recording.samples.length / recording.sampleRateHz;
    if (seconds < MIN_SECONDS) throw new WavError(`is ${seconds} s long, but must be at least ${MIN_SECONDS} s long`);
    if (seconds > maxSeconds)
      throw new WavError(`is ${Math.ceil(seconds)} s long, but the model accepts at most ${maxSeconds} s`);
    return recording;
  } catch (cause) {
    if (cause instanceof WavError) throw new JobFailure("invalid_input", `audio: ${cause.message}`, { cause });
    throw cause;
  }
}

async function resampled({ samples, sampleRateHz }: Recording, toHz: number, gate: SessionGate): Promise<Float32Array> {
  const steps = resampleInSteps(samples, sampleRateHz, toHz);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    // The rests run one after the other.
    // oxlint-disable-next-line no-await-in-loop
    await gate.rest();
  }
}

function rejectWhisperOptions({
  language,
  task,
  timestamps,
  chunk_length_s: chunk,
  stride_length_s: stride,
}: OnnxInput<"automatic-speech-recognition">): void {
  if (language !== undefined)
    throw new JobFailure("invalid_input", "language: this model supports only one language. Omit the parameter");
  if (task !== "transcribe")
    throw new JobFailure("invalid_input", 'task: must be "transcribe", because this model cannot translate');
  if (timestamps !== false)
    throw new JobFailure("invalid_input", "timestamps: must be false, because this model does not report times");
  if (chunk !== undefined || stride !== undefined) {
    const name = chunk === undefined ? "stride_length_s" : "chunk_length_s";
    throw new JobFailure(
      "invalid_input",
      `${name}: this model processes the whole recording at once. Omit the parameter`,
    );
  }
}

/**
 * Returns the options for the language and the task, and detects a missing language. transformers.js rejects both
 * options for English-only models, and otherwise assumes English.
 */
async function languageAndTask(
  pipe: AutomaticSpeechRecognitionPipeline,
  { language, task }: OnnxInput<"automatic-speech-recognition">,
  window: Float32Array,
): Promise<{ language?: string; task?: string }> {
  const { is_multilingual, lang_to_id: tokens = {}, decoder_start_token_id: start } = generationOf(pipe);
  if (is_multilingual !== true) {
    if (language !== undefined && codeOf(language, ["en"]) === undefined) {
      throw new JobFailure("invalid_input", "language: this model supports only English");
    }
    if (task !== "transcribe")
      throw new JobFailure("invalid_input", 'task: must be "transcribe", because this model cannot translate');
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

/** Returns Whisper's scores for the first token, which is the language. Source: its paper, §2.3. */
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

function codeOf(language: string, codes: readonly string[]): string | undefined {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const wanted = language.toLowerCase();
  return codes.find((code) => code === wanted || names.of(code)?.toLowerCase() === wanted);
}
