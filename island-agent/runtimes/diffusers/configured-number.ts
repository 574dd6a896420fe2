import { JobFailure } from "../../../shared/errors.ts";

/** A positive number of a configuration. @throws {JobFailure} `model_invalid` when it is something else. */
export function numberIn(config: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = config[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value > 0) return value;
  throw new JobFailure("model_invalid", `${name} of the model's configuration is not a positive number`);
}
