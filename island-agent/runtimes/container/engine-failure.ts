import { JobFailure } from "../../../shared/errors.ts";
import { engineMessage, statusOf } from "./engine.ts";

export function startFailureOf(error: unknown): JobFailure {
  if (error instanceof JobFailure) return error;
  const status = statusOf(error);
  const message = engineMessage(error);
  const options = { retryable: true, cause: error };
  if (status === null) return engineGone(error);
  if (status === 404) {
    return new JobFailure("model_unavailable", "The Cargo's image is no longer on this Island", options);
  }
  if (/device driver|nvidia|\bgpu/i.test(message)) {
    const text = `The container engine of this Island cannot use a GPU (${message}). Its owner can install a GPU container toolkit`;
    return new JobFailure("runtime_unavailable", text, options);
  }
  // runc reports a command that does not exist or cannot be executed in these words.
  if (/exec(utable)?\b.*(not found|no such file|permission denied|exec format)|no command specified/i.test(message)) {
    const text = `The Cargo's image cannot run its command: ${message}`;
    return new JobFailure("model_invalid", text, { ...options, retryable: false });
  }
  // The image contains a file where the working directory, a declared volume or /tmp must be.
  if (/not a directory|error mounting "tmpfs"/i.test(message)) {
    const text = `The Cargo's image has a file where it declares a folder: ${message}`;
    return new JobFailure("model_invalid", text, { ...options, retryable: false });
  }
  return new JobFailure("runtime_unavailable", `The container engine refused to start the Cargo: ${message}`, options);
}

/** Returns the failure of an engine that could not be reached, or stopped during a call. */
export function engineGone(error: unknown): JobFailure {
  const text = `The container engine of this Island does not respond (${engineMessage(error)})`;
  return new JobFailure("runtime_unavailable", text, { retryable: true, cause: error });
}
