import type { Cargo } from "../../shared/cargo.ts";
import { chatInputSchema, MAX_INPUT_BYTES } from "../../shared/chat-input.ts";
import { ValidationError } from "../../shared/errors.ts";

/**
 * Refuses what the Cargo cannot take, before a job is stored. `input` has come through a JSON parser. Paths begin with `root`,
 * the field of the request that held the input. Inputs of other than chat Cargos are checked for their size only.
 * @throws {ValidationError} naming every wrong field.
 */
export function checkInput(
  cargo: Pick<Cargo, "isChat">,
  input: Readonly<Record<string, unknown>>,
  root = "input",
): void {
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes > MAX_INPUT_BYTES) {
    throw new ValidationError([
      { path: root, message: `is ${bytes} bytes as JSON; at most ${MAX_INPUT_BYTES} are taken` },
    ]);
  }
  if (!cargo.isChat) return;
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) return;
  throw new ValidationError(
    parsed.error.issues.map(({ path, message }) => ({ path: [root, ...path].join("."), message })),
  );
}
