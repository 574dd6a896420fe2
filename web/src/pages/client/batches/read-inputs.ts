import { FieldFailure } from "../../../components/field-failure.ts";

const MAX_JOBS = 100;

/** Parses the inputs of a batch, one per line. @throws {FieldFailure} that names the invalid line. */
export function readInputs(text: string, isChat: boolean): Record<string, unknown>[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length === 0) throw new FieldFailure("inputs", "Enter at least one input");
  if (lines.length > MAX_JOBS)
    throw new FieldFailure("inputs", `Enter at most ${MAX_JOBS} inputs, not ${lines.length}`);
  return lines.map((line, index) => {
    if (isChat && !line.startsWith("{")) return { prompt: line };
    try {
      const value = JSON.parse(line) as unknown;
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    } catch {
      // Reported below.
    }
    throw new FieldFailure("inputs", `Line ${index + 1} is not a JSON object`);
  });
}
