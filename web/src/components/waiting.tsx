import type { Job } from "@atoll/client";

/** Why a job waits, with a bar while a model of known size is downloading. */
export function Waiting({ waiting: { message, percent } }: { readonly waiting: NonNullable<Job["waiting"]> }) {
  return (
    <>
      Waits: {message}
      {percent !== null && (
        <progress class="waiting-bar" value={percent} max={100} aria-label="Download of the model" />
      )}
    </>
  );
}
