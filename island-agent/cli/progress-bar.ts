import { SingleBar } from "cli-progress";

/** Stream that shows the progress: standard error. */
interface ProgressStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
}

/** Shows the progress of a long operation. */
export interface ProgressLine {
  /**
   * @param fraction 0 to 1; null while the size is unknown.
   * @param detail such as bytes and time left; may be empty.
   */
  show(what: string, fraction: number | null, detail: string): void;
  stop(): void;
}

/** Opens a bar on a terminal. Elsewhere it prints one line for each step and one per 10 %. */
export function openProgress(stream: ProgressStream): ProgressLine {
  return stream.isTTY === true ? openBar(stream) : openLines(stream);
}

function openBar(stream: ProgressStream): ProgressLine {
  // The package's graceful exit would catch Ctrl-C and let the command continue.
  const bar = new SingleBar({
    stream,
    format: "{what} [{bar}] {percentage}% {detail}",
    barsize: 30,
    gracefulExit: false,
  });
  bar.start(100, 0, { what: "", detail: "" });
  return {
    show: (what, fraction, detail) => bar.update(percentOf(fraction), { what, detail }),
    stop: () => bar.stop(),
  };
}

function openLines(stream: ProgressStream): ProgressLine {
  let last = "";
  return {
    show(what, fraction, detail) {
      const tenths = fraction === null ? "" : ` ${Math.floor(percentOf(fraction) / 10) * 10}%`;
      const step = `${what}${tenths}`;
      if (step !== last) stream.write(`${step}${detail === "" ? "" : ` (${detail})`}\n`);
      last = step;
    },
    stop: () => undefined,
  };
}

/** Returns the percentage, rounded down so that 100 means complete. */
function percentOf(fraction: number | null): number {
  return Math.floor(100 * (fraction ?? 0));
}
