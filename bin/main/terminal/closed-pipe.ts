/** Drops output whose reader has gone, as with `| head`: without it the program would end with a stack. */
export function dropUnreadOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
