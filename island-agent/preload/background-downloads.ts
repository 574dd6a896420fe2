import type { CargoManifest } from "../../shared/cargo.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import { openPulls } from "./owner-pulls.ts";
import { openPreloader, type PreloadStatus } from "./preloader.ts";

type PreloaderParts = Parameters<typeof openPreloader>[0];

/**
 * Opens the downloads that no job waits for: expected models (preloads) and the owner's requests (pulls).
 * @param recommend null if the owner has disabled preloads.
 */
export function openBackgroundDownloads(
  parts: Omit<PreloaderParts, "recommend" | "files"> & {
    readonly files: PreloaderParts["files"] & Pick<CargoFiles, "pull" | "downloads">;
  },
  recommend: PreloaderParts["recommend"] | null,
) {
  const preloader = recommend === null ? null : openPreloader({ ...parts, recommend });
  const pulls = openPulls(parts.clock, parts.files, parts.want, parts.onChange);
  let preloading: Promise<void> | undefined;

  /** Starts preloads, until `signal` aborts. Further calls are no-ops. */
  function start(signal: AbortSignal): void {
    preloading ??= preloader?.run(signal);
  }

  function preloads(): PreloadStatus | null {
    return preloader?.status() ?? null;
  }

  /** Handles the opening or closing of the Island for new jobs. */
  function onAvailability(): void {
    preloader?.onAvailability();
  }

  /** Passes a Cargo from the coordinator to a pull that waits for it, otherwise to the preloader. */
  function receive(cargo: CargoManifest, signal: AbortSignal): void {
    if (!pulls.receive(cargo, signal)) preloader?.receive(cargo, signal);
  }

  /** Waits until all downloads have ended. Abort their signals first. */
  async function close(): Promise<void> {
    await preloading;
    await pulls.close();
  }

  return { start, pull: pulls.begin, pulls: pulls.status, preloads, onAvailability, receive, close };
}

export type BackgroundDownloads = ReturnType<typeof openBackgroundDownloads>;
