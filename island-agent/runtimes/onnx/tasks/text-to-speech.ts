import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { TextToAudioPipeline } from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";
import type { TaskHandler } from "./task-handler.ts";
import { countPromptTokens } from "./count-prompt-tokens.ts";
import { writeWav } from "../../../../shared/audio/wav-file.ts";

/** Folder of models with several voices (Supertonic): `voices/F1.bin`, 32-bit floats, little-endian. */
const VOICES = "voices";

/** Runs text-to-speech, for models that return a waveform. */
export const textToSpeech: TaskHandler<"text-to-speech", TextToAudioPipeline> = async (pipe, input, { modelPath }) => {
  const promptTokens = countPromptTokens(pipe, "text", input.text);
  const voice = await readVoice(modelPath, input.voice);
  const options = voice === null ? {} : { speaker_embeddings: voice, speed: input.speed };
  if (voice === null && input.speed !== 1)
    throw new JobFailure("invalid_input", "speed: must be 1, because this model supports only one speed");
  const { data: samples, sampling_rate: rate } = await pipe(input.text, options);
  if (!samples.every(Number.isFinite)) throw new Error("the waveform has samples that are not finite");
  const data = writeWav({ samples, sampleRateHz: rate }).toString("base64");
  return { output: { format: "wav", sampling_rate_hz: rate, data }, promptTokens };
};

/**
 * Returns the voice's embedding: the first by name if `wanted` is undefined, null for a model with one voice. @throws
 * {JobFailure} `invalid_input`
 */
async function readVoice(modelPath: string, wanted: string | undefined): Promise<Float32Array | null> {
  const files = await readdir(path.join(modelPath, VOICES)).catch(() => [] as string[]);
  const voices = files.filter((name) => name.endsWith(".bin")).map((name) => name.slice(0, -".bin".length));
  const voice = wanted ?? voices.sort()[0];
  if (voice === undefined) return null;
  if (!voices.includes(voice)) {
    const known =
      voices.length === 0
        ? "this model supports only one voice. Omit the parameter"
        : `must be one of ${voices.sort().join(", ")}`;
    throw new JobFailure("invalid_input", `voice: ${known}`);
  }
  const bytes = await readFile(path.join(modelPath, VOICES, `${voice}.bin`));
  return new Float32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / 4));
}
