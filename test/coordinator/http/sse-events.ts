export interface SseEvent {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
  readonly data: any;
}

/** Parses complete events from a stream's text, without comment lines. Throws at any other line. */
export function readEvents(text: string): SseEvent[] {
  const blocks = text.split("\n\n");
  if (blocks.pop() !== "") throw new Error(`Cut in an event: ${text.slice(-100)}`);
  return blocks
    .filter((block) => !block.startsWith(":"))
    .map((block) => {
      const match = /^id: (\S+)\nevent: (\S+)\ndata: (.*)$/.exec(block);
      if (match === null) throw new Error(`Not an event: ${block}`);
      const [, id = "", event = "", data = ""] = match;
      return { id, event, data: JSON.parse(data) };
    });
}

/** Returns the text of all token events. */
export function textOf(events: readonly SseEvent[]): string {
  return events.map(({ event, data }) => (event === "token" ? data.content : "")).join("");
}

/** Returns the chunked body of a raw HTTP/1.1 response. */
export function dechunk(response: string): string {
  const bytes = Buffer.from(response, "utf8");
  let at = bytes.indexOf("\r\n\r\n") + 4;
  const parts: Buffer[] = [];
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) throw new Error("Cut in a chunk");
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (size === 0) return Buffer.concat(parts).toString("utf8");
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
