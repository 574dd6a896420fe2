import type { JobFeed } from "./job-feed.ts";
import { messageOf } from "./error-message.ts";
import { StreamedText } from "./streamed-text.tsx";
import { Output, ImageOutput, TextOutput } from "./output.tsx";

/** Shows the output of a job as it arrives. `isExplained`: whether the page already explains why it is empty. */
export function FeedView({ feed, isExplained = false }: { readonly feed: JobFeed; readonly isExplained?: boolean }) {
  const { text, image, progress, ending, failure } = feed;
  const whole = ending?.type === "done" ? ending.output : undefined;
  const isSilent = text === "" && image === null && whole === undefined;
  return (
    <div class="feed">
      {progress !== null && ending === null && (
        <label class="progress">
          <span>
            Step <span class="num">{progress.step}</span> of <span class="num">{progress.total}</span>
          </span>
          <progress value={progress.step} max={progress.total} />
        </label>
      )}
      {image !== null && <ImageOutput image={image} />}
      {text !== "" && (ending === null ? <StreamedText text={text} /> : <TextOutput text={text} />)}
      {whole !== undefined && image === null && text === "" && <Output value={whole} />}
      {isSilent && !isExplained && ending === null && failure === null && (
        <p class="muted" role="status">
          <span class="spinner" aria-hidden="true" />{" "}
          {feed.state === "running" ? "Running; no output yet." : "Waiting in the queue."}
        </p>
      )}
      {ending?.type === "error" && (
        <p class="form-error" role="alert">
          {ending.code}: {ending.message}
        </p>
      )}
      {failure !== null && (
        <p class="form-error" role="alert">
          {messageOf(failure)}
        </p>
      )}
    </div>
  );
}
