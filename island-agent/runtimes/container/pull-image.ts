import type { Readable } from "node:stream";
import type { ContainerSpec } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { DiskFullError } from "../../disk/disk-full-error.ts";
import { StallWatchdog } from "../../models/download/stall-watchdog.ts";
import type { DownloadProgress } from "../../models/download/transfer.ts";
import { splitImage } from "../../config/allowed-registries.ts";
import { engineMessage, type ContainerEngine, type EngineImage } from "./engine.ts";
import { PullProgress } from "./pull-progress.ts";

interface PullContext {
  readonly engine: ContainerEngine;
  readonly clock: Clock;
  /** Time that the engine may report nothing during a pull. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DownloadProgress) => void;
}

/**
 * Returns the engine's name of an image, with the digest if there is one. The tag is then omitted, because Podman
 * rejects both together.
 */
export function engineReference({ image, digest }: ContainerSpec): string {
  return digest === null ? image : `${splitImage(image).repository}@${digest}`;
}

/**
 * Pulls an image by its digest, or by its tag if it has none.
 * @throws {JobFailure} `model_unavailable`, `model_hash_mismatch` or `disk_full`; or the signal's reason.
 */
export async function pullImage(spec: ContainerSpec, context: PullContext): Promise<EngineImage> {
  const { engine, signal } = context;
  const { repository, tag } = splitImage(spec.image);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const watchdog = new StallWatchdog(context.clock, context.stallMs, () => {
    const text = `The pull of ${spec.image} has stalled: no progress for ${context.stallMs / 1_000} s`;
    stop.abort(new JobFailure("model_unavailable", text, { retryable: true }));
  });
  try {
    signal.throwIfAborted();
    watchdog.wait();
    const progress = await followPull(
      await engine.pull(repository, spec.digest ?? tag, stop.signal),
      watchdog,
      context,
    );
    stop.signal.throwIfAborted();
    if (progress.fault !== null) throw pullFailure(spec, progress.fault);
    return await checkImage(spec, engine);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw error instanceof JobFailure ? error : pullFailure(spec, engineMessage(error));
  } finally {
    watchdog.stop();
    signal.removeEventListener("abort", onAbort);
  }
}

async function followPull(
  report: Readable,
  watchdog: StallWatchdog,
  { onProgress }: PullContext,
): Promise<PullProgress> {
  const progress = new PullProgress();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of report as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) progress.take(line);
    onProgress(progress.bytes);
    watchdog.wait();
  }
  progress.take(text);
  return progress;
}

/** Verifies that the engine checked the digest: the image must be listed under the requested name and digest. */
async function checkImage(spec: ContainerSpec, engine: ContainerEngine): Promise<EngineImage> {
  const image = await engine.image(engineReference(spec));
  if (image === null) throw pullFailure(spec, "the engine did not keep it");
  if (spec.digest !== null && !image.repoDigests.some((name) => name.endsWith(`@${spec.digest}`))) {
    throw new JobFailure(
      "model_hash_mismatch",
      `The image ${spec.image} does not have the digest that the Cargo names`,
    );
  }
  return image;
}

/** @param fault the engine's text, because the engine does not report error codes. */
function pullFailure({ image, digest }: ContainerSpec, fault: string): JobFailure {
  const text = `The image ${image} could not be pulled: ${fault}`;
  if (digest !== null && /verification failed|digest (mismatch|did not match|does not match)/i.test(fault)) {
    return new JobFailure("model_hash_mismatch", text);
  }
  if (/no space left on device|disk quota exceeded/i.test(fault)) return new DiskFullError(text, fault);
  const isFinal = /not found|manifest unknown|does not exist|denied|unauthorized|authentication required/i.test(fault);
  return new JobFailure("model_unavailable", text, { retryable: !isFinal });
}
