const closers: (() => Promise<void>)[] = [];

/** Registers `close` to run after the last test of the current file. */
export function atFileEnd(close: () => Promise<void>): void {
  closers.push(close);
}

/** Runs the registered functions. Called by the setup file. */
export async function endFile(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}
