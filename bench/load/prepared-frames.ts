import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { pack, tokenAt } from "./frames.ts";

const BINARY_MESSAGE = 0x82;
const MASKED = 0x80;
/** Mask of zeros, which leaves the bytes unchanged. Source: RFC 6455, section 5.3. */
const NO_MASK = Buffer.alloc(4);
const MAX_SHORT_BYTES = 125;
const TWO_BYTE_LENGTH = 126;

/**
 * WebSocket frames of a job. They are encoded once, and only the job's id is replaced. Encoding and masking each frame
 * would cost an Island more than relaying costs a server.
 */
export class PreparedFrames {
  readonly count: number;
  readonly #frames: (jobId: string) => readonly FromIsland[];
  /** Templates by the length of the id. */
  readonly #templates = new Map<number, { readonly bytes: Buffer; readonly offsets: readonly number[] }>();

  constructor(frames: (jobId: string) => readonly FromIsland[]) {
    this.#frames = frames;
    this.count = frames("").length;
  }

  bytesFor(jobId: string): Buffer {
    const { bytes, offsets } = this.#templates.get(jobId.length) ?? this.#prepare(jobId.length);
    const copy = Buffer.from(bytes);
    for (const offset of offsets) copy.write(jobId, offset, "latin1");
    return copy;
  }

  #prepare(length: number): { readonly bytes: Buffer; readonly offsets: readonly number[] } {
    // This character occurs nowhere else in the frames.
    const placeholder = "~".repeat(length);
    const bytes = Buffer.concat(this.#frames(placeholder).flatMap((frame) => message(pack(frame))));
    const offsets: number[] = [];
    for (let at = bytes.indexOf(placeholder); at >= 0; at = bytes.indexOf(placeholder, at + length)) offsets.push(at);
    const template = { bytes, offsets };
    this.#templates.set(length, template);
    return template;
  }
}

/** Encodes a frame. @throws {RangeError} if the frame is larger than 64 KiB, which scripted frames never are. */
function message(payload: Buffer): Buffer[] {
  const { length } = payload;
  const head = Buffer.alloc(length > MAX_SHORT_BYTES ? 4 : 2);
  head[0] = BINARY_MESSAGE;
  head[1] = MASKED | (length > MAX_SHORT_BYTES ? TWO_BYTE_LENGTH : length);
  if (length > MAX_SHORT_BYTES) head.writeUInt16BE(length, 2);
  return [head, NO_MASK, payload];
}

/** The frames that a scripted Island sends for the first attempt of a job. */
export interface PreparedScript {
  readonly begin: PreparedFrames;
  /** The frames of the tokens. The last frame ends the job. */
  readonly tokens: readonly PreparedFrames[];
  /** All frames after `begin`. */
  readonly rest: PreparedFrames;
  readonly whole: PreparedFrames;
}

export function prepareScript(tokens: number): PreparedScript {
  const begin = (jobId: string): FromIsland[] => [
    { type: "accepted", jobId, attempt: 1 },
    { type: "started", jobId, attempt: 1 },
  ];
  const output = (jobId: string, index: number): FromIsland => {
    const items = [{ type: "token" as const, content: tokenAt(index), count: 1 }];
    return { type: "output", jobId, attempt: 1, seq: index + 1, items };
  };
  const finished = (jobId: string): FromIsland => {
    const usage = { promptTokens: 5, completionTokens: tokens };
    const timings = { loadMs: 0, firstOutputMs: 0, runMs: 0 };
    return { type: "finished", jobId, attempt: 1, seq: tokens + 1, finishReason: "stop", usage, timings };
  };
  const indexes = Array.from({ length: tokens }, (_, index) => index);
  const rest = (jobId: string): FromIsland[] => [...indexes.map((index) => output(jobId, index)), finished(jobId)];
  return {
    begin: new PreparedFrames(begin),
    tokens: indexes.map(
      (index) =>
        new PreparedFrames((jobId) => [output(jobId, index), ...(index === tokens - 1 ? [finished(jobId)] : [])]),
    ),
    rest: new PreparedFrames(rest),
    whole: new PreparedFrames((jobId) => [...begin(jobId), ...rest(jobId)]),
  };
}
