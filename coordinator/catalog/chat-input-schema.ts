import { z } from "zod";
import { chatInputSchema } from "../../shared/chat-input.ts";

/** JSON Schema (2020-12) of what a client may send to a chat Cargo. Made once: all chat Cargos share it. */
export const chatInputJsonSchema: Readonly<Record<string, unknown>> = Object.freeze({
  ...z.toJSONSchema(chatInputSchema, { io: "input", target: "draft-2020-12" }),
  // The refinement of chatInputSchema, which has no counterpart that zod could derive.
  oneOf: [{ required: ["prompt"] }, { required: ["messages"] }],
});
