import type { Job } from "@atoll/client";

/** Shows why a job waits, with a bar while a model of known size is downloading. */
export function Waiting({ waiting: { message, percent } }: { readonly waiting: NonNullable<Job["waiting"]> }) {
  return (
    <>
      Waiting: {message}
      {percent !== null && <progress class="waiting-bar" value={percent} max={100} aria-label="Model download" />}
    </>
  );
}
