import type { OpenAI } from "openai";
import { writeWav } from "../../../../shared/audio/wav-file.ts";
import { CARGOS, makeCargo } from "../api-catalog.ts";
import { DONE } from "../scripted-jobs.ts";
import { describeParameters } from "./parameter-cases.ts";

const speaker = (slug: string, workloadId: number) =>
  makeCargo({ slug, workloadId, runtimeType: "onnx", onnxTaskType: "text-to-speech", isChat: false });

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.Audio.SpeechCreateParams]: unknown }> = {
  input: "Another text",
  model: "other-speaker",
  voice: "F2",
  speed: 2,
  response_format: "wav",
  stream_format: "sse",
  instructions: "Whisper",
};

describeParameters({
  endpoint: "POST /audio/speech",
  base: { input: "A text", model: "speaker" },
  samples: OFFICIAL,
  arrange: (api) => {
    api.catalog.replace([...CARGOS, speaker("speaker", 20), speaker("other-speaker", 21)]);
    const data = writeWav({ samples: new Float32Array(2_400), sampleRateHz: 24_000 }).toString("base64");
    api.jobs.onSubmit = (feed) => feed.end({ ...DONE, output: { format: "wav", sampling_rate_hz: 24_000, data } });
  },
});
