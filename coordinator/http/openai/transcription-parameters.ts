import type { ParameterRule } from "./parameters.ts";

const SPEAKERS = "no runtime tells speakers apart";

/** Parameters of both endpoints, which come as fields of a form. Source of the names: OpenAI's API. */
const COMMON: readonly ParameterRule[] = [
  { name: "file", rule: "honoured", note: "a WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit" },
  {
    name: "model",
    rule: "honoured",
    note: "a Cargo with the task automatic-speech-recognition; default: `default_transcription_cargo`",
  },
  { name: "response_format", rule: "honoured", note: "`json` (default), `text`, `srt`, `vtt`, `verbose_json`" },
  { name: "prompt", rule: "refused", note: "runtimes take no text before the speech", neutral: [""] },
  { name: "temperature", rule: "refused", note: "the likeliest text is written", neutral: ["0", "0.0"] },
];

/** Parameters of `POST /audio/transcriptions`. */
export const TRANSCRIPTION_PARAMETERS: readonly ParameterRule[] = [
  ...COMMON,
  { name: "language", rule: "honoured", note: "code or English name; found out when left out" },
  {
    name: "timestamp_granularities",
    rule: "honoured",
    note: "`segment` (default) or `word`, not both; with `verbose_json` only; 422 if the Cargo has none",
  },
  { name: "stream", rule: "refused", note: "the text comes whole", neutral: ["false"] },
  { name: "chunking_strategy", rule: "refused", note: "Islands cut long recordings themselves", neutral: ["auto"] },
  { name: "include", rule: "refused", note: "answers have no probabilities", neutral: [[]] },
  { name: "keywords", rule: "refused", note: "runtimes take no words to expect", neutral: [[]] },
  { name: "languages", rule: "refused", note: "use `language`", neutral: [[]] },
  { name: "known_speaker_names", rule: "refused", note: SPEAKERS, neutral: [[]] },
  { name: "known_speaker_references", rule: "refused", note: SPEAKERS, neutral: [[]] },
];

/** Parameters of `POST /audio/translations`. */
export const TRANSLATION_PARAMETERS: readonly ParameterRule[] = COMMON;
