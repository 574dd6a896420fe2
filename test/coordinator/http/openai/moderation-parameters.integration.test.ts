import type { OpenAI } from "openai";
import { CARGOS, makeCargo } from "../api-catalog.ts";
import { DONE } from "../scripted-jobs.ts";
import { describeParameters } from "./parameter-cases.ts";

const classifier = (slug: string, workloadId: number) =>
  makeCargo({ slug, workloadId, runtimeType: "onnx", onnxTaskType: "text-classification", isChat: false });

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.ModerationCreateParams]: unknown }> = {
  input: "b",
  model: "other-labels",
};

describeParameters({
  endpoint: "POST /moderations",
  base: { input: "a" },
  samples: {
    ...OFFICIAL,
    "input[].type": [{ type: "text", text: "b" }],
    "input[].text": [{ type: "text", text: "c" }],
    "input[].image_url": [{ type: "text", text: "b", image_url: { url: "https://example.com/a.png" } }],
  },
  arrange: (api) => {
    api.catalog.replace([...CARGOS, classifier("tiny-classify", 20), classifier("other-labels", 21)]);
    api.jobs.onSubmit = (feed) => feed.end({ ...DONE, output: [{ label: "toxic", score: 0.75 }] });
  },
});
