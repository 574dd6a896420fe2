import type { CargoManifest } from "../../shared/cargo.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import { openPulls } from "./owner-pulls.ts";
import { openPreloader, type PreloadStatus } from "./preloader.ts";

type PreloaderParts = Parameters<typeof openPreloader>[0];

/**
 * Downloads that no job waits for: what the network will need (preloads) and what the owner asked for (pulls).
 * @param recommend null: the owner has switched preloads off.
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

  /** Begins to preload, until `signal` aborts. Further calls do nothing. */
  function start(signal: AbortSignal): void {
    preloading ??= preloader?.run(signal);
  }

  /** Null when preloads are switched off. */
  function preloads(): PreloadStatus | null {
    return preloader?.status() ?? null;
  }

  /** The Island has opened or closed for new jobs. */
  function onAvailability(): void {
    preloader?.onAvailability();
  }

  /** Takes a Cargo that the coordinator sent: for a pull that waits for it, otherwise for a preload. */
  function offer(cargo: CargoManifest, signal: AbortSignal): void {
    if (!pulls.offer(cargo, signal)) preloader?.offer(cargo, signal);
  }

  /** Waits until all downloads have ended. Abort their signals first. */
  async function close(): Promise<void> {
    await preloading;
    await pulls.close();
  }

  return { start, pull: pulls.begin, pulls: pulls.status, preloads, onAvailability, offer, close };
}

export type BackgroundDownloads = ReturnType<typeof openBackgroundDownloads>;
