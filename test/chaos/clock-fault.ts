import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";

/** The library of Debian's package `faketime`. */
export const CLOCK_SHIM = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/** Lets the wall clock of a program jump. Its monotonic clock is not affected. */
export class ClockFault {
  static readonly isPossible = existsSync(CLOCK_SHIM);
  readonly #file: string;
  #offsetS = 0;

  /** @param file file with the offset, read by the program at each call. */
  constructor(file: string) {
    this.#file = file;
  }

  environment(): { readonly preload: readonly string[]; readonly variables: Record<string, string> } {
    if (!ClockFault.isPossible) return { preload: [], variables: {} };
    const variables = {
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_NO_CACHE: "1",
    };
    return { preload: [CLOCK_SHIM], variables };
  }

  async step(bySeconds: number): Promise<void> {
    this.#offsetS += bySeconds;
    await writeFile(this.#file, `${this.#offsetS < 0 ? "" : "+"}${this.#offsetS}s\n`);
  }
}
