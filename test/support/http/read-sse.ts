/** An event whose `data` is not parsed. */
export interface SseBlock {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/**
 * Yields the events of a stream until it is closed.
 * @throws if the connection breaks, or nothing arrives for `maxSilenceMs`.
 */
export async function* readSse(response: Response, maxSilenceMs = Infinity): AsyncGenerator<SseBlock> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await within(maxSilenceMs, reader.read());
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1] ?? "";
        if (!block.startsWith(":")) yield { id: field("id"), event: field("event"), data: field("data") };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  if (ms === Infinity) return promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing arrived for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
