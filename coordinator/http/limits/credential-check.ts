import type { ServerResponse } from "node:http";
import type { Clock } from "../../../shared/clock.ts";

export interface CredentialCheckDeps {
  /** Changes whenever a credential may have ended, also by another process. */
  readonly revision: () => Promise<number>;
  readonly clock: Pick<Clock, "sleep">;
}

const CHECK_MS = 1_000;

/**
 * Cuts streams that have no end of their own within a second after their key or session has ended, in whatever way: a changed password, the
 * operator's command line. It reads one number a second, and only while there are such streams.
 */
export class CredentialCheck {
  readonly #deps: CredentialCheckDeps;
  /** Each with what says whether it may go on. */
  readonly #streams = new Map<ServerResponse, () => Promise<boolean>>();
  /** Ends the checks; null while there is no stream. */
  #checking: AbortController | null = null;

  constructor(deps: CredentialCheckDeps) {
    this.#deps = deps;
  }

  /** Until `response` closes. `mayRead`: false cuts it. */
  add(response: ServerResponse, mayRead: () => Promise<boolean>): void {
    if (response.destroyed) return;
    this.#streams.set(response, mayRead);
    this.#checking ??= this.#begin();
    response.once("close", () => {
      this.#streams.delete(response);
      if (this.#streams.size > 0) return;
      this.#checking?.abort();
      this.#checking = null;
    });
  }

  #begin(): AbortController {
    const controller = new AbortController();
    this.#checkUntil(controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted) throw error;
    });
    return controller;
  }

  async #checkUntil(signal: AbortSignal): Promise<void> {
    // What ended since a credential was looked up is found by the first check.
    let known: number | null = null;
    while (!signal.aborted) {
      await this.#deps.clock.sleep(CHECK_MS, signal);
      // While storage cannot be read, nobody's credential ends.
      known = await this.#check(known).catch(() => known);
    }
  }

  async #check(known: number | null): Promise<number> {
    const revision = await this.#deps.revision();
    if (revision === known) return revision;
    for (const [response, mayRead] of this.#streams) {
      if (!(await mayRead())) response.destroy();
    }
    return revision;
  }
}
