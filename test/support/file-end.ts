const closers: (() => Promise<void>)[] = [];

/** Has `close` called after the last test of the file that runs now. */
export function atFileEnd(close: () => Promise<void>): void {
  closers.push(close);
}

/** For the setup file. */
export async function endFile(): Promise<void> {
  for (const close of closers.splice(0)) await close();
}
