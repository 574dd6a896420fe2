import type { OpenAI } from "openai";
import type { Api } from "../api.ts";
import { describeParameters } from "./parameter-cases.ts";

/** Every parameter of the official client. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.BatchCreateParams]: unknown }> = {
  input_file_id: "",
  endpoint: "/v1/embeddings",
  completion_window: "24h",
  metadata: { run: "7" },
  output_expires_after: { anchor: "created_at", seconds: 3_600 },
};
const { output_expires_after: life } = OFFICIAL;
const base = { input_file_id: "", endpoint: "/v1/chat/completions", completion_window: "24h" };
const samples = { ...OFFICIAL, "output_expires_after.anchor": life, "output_expires_after.seconds": life };

/**
 * Uploads a file, and returns its id. The files contain no requests, so that their batches end at once, because an
 * account may have only a few unfinished batches.
 */
async function upload(api: Api, text: string): Promise<string> {
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new Blob([text]), "lines.jsonl");
  const headers = { authorization: `Bearer ${api.key}` };
  const response = await fetch(`${api.url}/v1/files`, { method: "POST", body: form, headers });
  return ((await response.json()) as { id: string }).id;
}

describeParameters({
  endpoint: "POST /batches",
  base,
  samples,
  // Only one window exists. The other faults concern missing files:
  // test/coordinator/dialects/batches.integration.test.ts.
  unseen: ["completion_window", ...Object.keys(samples).filter((name) => name.startsWith("output_expires_after"))],
  arrange: async (api) => {
    [base.input_file_id, samples.input_file_id] = [await upload(api, "no request"), await upload(api, "none either")];
  },
});
