import type { OpenAI } from "openai";
import { describeParameters } from "./parameter-cases.ts";

/** Complete by its type: each parameter that the official client knows. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.UploadCreateParams]: unknown }> = {
  bytes: 20,
  filename: "b.wav",
  purpose: "vision",
  mime_type: "audio/wav",
  expires_after: { anchor: "created_at", seconds: 3_600 },
};
const { expires_after } = OFFICIAL;

describeParameters({
  endpoint: "POST /uploads",
  base: { bytes: 10, filename: "a.wav", purpose: "user_data" },
  samples: { ...OFFICIAL, "expires_after.anchor": expires_after, "expires_after.seconds": expires_after },
  // Of the file, which is not there yet: test/coordinator/http/routes/uploads.integration.test.ts.
  unseen: ["expires_after", "expires_after.anchor", "expires_after.seconds"],
  arrange: () => undefined,
});
