import type { DownloadStatus } from "../../disk/stored-item.ts";
import { SharedDownload } from "./shared-download.ts";

/** Downloads of one store. There is at most one download for each key, with any number of callers. */
export class SharedDownloads<T> {
  /** Downloads that callers may join. */
  readonly #current = new Map<string, SharedDownload<T>>();
  /** Active downloads, including stopped ones. The promises never reject. */
  readonly #running = new Map<SharedDownload<T>, Promise<void>>();

  has(key: string): boolean {
    return this.#current.has(key);
  }

  /** Returns one entry for each waiting Cargo. */
  status(): DownloadStatus[] {
    return [...this.#current.values()].flatMap(({ slugs, key, progress }) =>
      [...slugs].map((slug) => ({ slug, key, ...progress })),
    );
  }

  /**
   * Returns the download of `key` that callers may join; `run` starts a new one.
   * @param run does the work and settles the callers through `download`. It never rejects. `stopped` resolves when
   * previously stopped downloads have closed their files and released their disk space.
   */
  joinOrStart(
    key: string,
    run: (download: SharedDownload<T>, stopped: Promise<unknown>) => Promise<void>,
  ): SharedDownload<T> {
    const current = this.#current.get(key);
    if (current !== undefined && !current.isStopping) return current;
    const download = new SharedDownload<T>(key);
    this.#current.set(key, download);
    const stopped = [...this.#running].flatMap(([{ isStopping }, ended]) => (isStopping ? [ended] : []));
    const ended = run(download, Promise.all(stopped)).finally(() => {
      this.#running.delete(download);
      if (this.#current.get(key) === download) this.#current.delete(key);
    });
    this.#running.set(download, ended);
    return download;
  }

  /** Stops all downloads and waits until their files and sockets are closed. */
  async close(reason: Error): Promise<void> {
    for (const download of this.#running.keys()) download.stop(reason);
    await Promise.all(this.#running.values());
  }
}
