import { JobFailure } from "../../../shared/errors.ts";
import { engineMessage, statusOf } from "./engine.ts";

/** Why a container could not be made or started. */
export function startFailureOf(error: unknown): JobFailure {
  if (error instanceof JobFailure) return error;
  const status = statusOf(error);
  const message = engineMessage(error);
  const options = { retryable: true, cause: error };
  if (status === null) return engineGone(error);
  if (status === 404) {
    return new JobFailure("model_unavailable", "The Cargo's image is not on this Island any more", options);
  }
  if (/device driver|nvidia|\bgpu/i.test(message)) {
    const text = `The container engine of this Island cannot grant a GPU; its owner can install a toolkit for that (${message})`;
    return new JobFailure("runtime_unavailable", text, options);
  }
  // What runc says of a command that is not there, is no program, or may not be executed.
  if (/exec(utable)?\b.*(not found|no such file|permission denied|exec format)|no command specified/i.test(message)) {
    const text = `The Cargo's image cannot run its command: ${message}`;
    return new JobFailure("model_invalid", text, { ...options, retryable: false });
  }
  // Its working directory is a file, or a volume of it, for which a tmpfs is mounted; or /tmp.
  if (/not a directory|error mounting "tmpfs"/i.test(message)) {
    const text = `The Cargo's image has no folder where it declares one: ${message}`;
    return new JobFailure("model_invalid", text, { ...options, retryable: false });
  }
  return new JobFailure("runtime_unavailable", `The container engine refuses the Cargo: ${message}`, options);
}

/** The engine could not be asked, or left in the middle. */
export function engineGone(error: unknown): JobFailure {
  const text = `The container engine of this Island does not answer (${engineMessage(error)})`;
  return new JobFailure("runtime_unavailable", text, { retryable: true, cause: error });
}
