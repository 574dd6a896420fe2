/**
 * Drops output that can no longer be read, for example after `| head` has ended. Otherwise the program would end with a
 * stack trace.
 */
export function dropUnreadOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
