import type { CargoManifest } from "../../shared/cargo.ts";
import { Preloader, type PreloaderDeps, type PreloadStatus } from "./preloader.ts";
import { Pulls, type PullsDeps, type PullStatus } from "./owner-pulls.ts";
import type { Recommendation } from "./recommendations.ts";

export interface BackgroundDownloadsDeps extends Omit<PreloaderDeps, "recommend" | "files"> {
  readonly files: PreloaderDeps["files"] & PullsDeps["files"];
  /** Asks the coordinator what to preload; null: the owner has switched preloads off. */
  readonly recommend: ((signal: AbortSignal) => Promise<readonly Recommendation[]>) | null;
}

/** Downloads that no job waits for: what the network will need (preloads) and what the owner asked for (pulls). */
export class BackgroundDownloads {
  readonly #preloader: Preloader | null;
  readonly #pulls: Pulls;
  #preloading: Promise<void> | undefined;

  constructor({ recommend, ...deps }: BackgroundDownloadsDeps) {
    this.#preloader = recommend === null ? null : new Preloader({ ...deps, recommend });
    this.#pulls = new Pulls(deps);
  }

  /** Begins to preload, until `signal` aborts. Further calls do nothing. */
  start(signal: AbortSignal): void {
    this.#preloading ??= this.#preloader?.run(signal);
  }

  /** @see Pulls.begin */
  pull(slug: string): void {
    this.#pulls.begin(slug);
  }

  pulls(): PullStatus[] {
    return this.#pulls.status();
  }

  /** Null when preloads are switched off. */
  preloads(): PreloadStatus | null {
    return this.#preloader?.status() ?? null;
  }

  /** The Island has opened or closed for new jobs. */
  onAvailability(): void {
    this.#preloader?.onAvailability();
  }

  /** Takes a Cargo that the coordinator sent: for a pull that waits for it, otherwise for a preload. */
  offer(cargo: CargoManifest, signal: AbortSignal): void {
    if (!this.#pulls.offer(cargo, signal)) this.#preloader?.offer(cargo, signal);
  }

  /** Waits until all downloads have ended. Abort their signals first. */
  async close(): Promise<void> {
    await this.#preloading;
    await this.#pulls.close();
  }
}
