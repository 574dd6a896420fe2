import type { Logger } from "../../shared/logger.ts";

/** Writes and mails that no request waits for. Their failures are logged. */
export function openBackground(log: Pick<Logger, "error">) {
  const underWay = new Set<Promise<void>>();
  return {
    /** `failed`: what the log says when `work` rejects. */
    run(work: Promise<void>, failed: string): void {
      const done = work
        .catch((error: unknown) => log.error({ err: error }, failed))
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    /** Resolves when nothing is in progress. */
    async settled(): Promise<void> {
      await Promise.all(underWay);
    },
  };
}

export type Background = ReturnType<typeof openBackground>;
