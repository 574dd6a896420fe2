import type { ParameterRule } from "./parameters.ts";

/** Parameters of `POST /audio/speech`. Source of the names: OpenAI's API. */
export const SPEECH_PARAMETERS: readonly ParameterRule[] = [
  {
    name: "input",
    rule: "honoured",
    note: "up to 4096 characters; long texts are several jobs, cut between sentences",
  },
  { name: "model", rule: "honoured", note: "a Cargo with the task text-to-speech; default: `default_speech_cargo`" },
  {
    name: "voice",
    rule: "honoured",
    note: "a voice of the Cargo, or `default`, which is the Cargo's first; OpenAI's names are 422 where the Cargo has other ones",
  },
  { name: "speed", rule: "honoured", note: "0.25 to 4, default 1; 422 if the Cargo has one speed only" },
  {
    name: "response_format",
    rule: "honoured",
    note: "`mp3` (default), `wav`, `pcm` (24 kHz, 16 bit); `opus`, `aac` and `flac` are refused",
  },
  { name: "stream_format", rule: "honoured", note: "`audio` (default) or `sse`" },
  { name: "instructions", rule: "refused", note: "no runtime takes directions for a voice", neutral: [""] },
];
