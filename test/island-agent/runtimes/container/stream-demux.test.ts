import { describe, expect, it } from "vitest";
import { StreamDemux } from "../../../../island-agent/runtimes/container/stream-demux.ts";

function frame(type: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = type;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

function read(chunks: readonly Uint8Array[]): { stdout: string; stderr: string } {
  const output = { stdout: "", stderr: "" };
  const demux = new StreamDemux((name, bytes) => void (output[name] += Buffer.from(bytes).toString("latin1")));
  for (const chunk of chunks) demux.push(chunk);
  return output;
}

describe("StreamDemux", () => {
  const stream = Buffer.concat([frame(1, "one "), frame(2, "oh"), frame(1, ""), frame(1, "two"), frame(2, "!")]);
  const output = { stdout: "one two", stderr: "oh!" };

  it("separates the two outputs", () => {
    expect(read([stream])).toEqual(output);
  });

  it("reads the same output wherever the stream is split", () => {
    for (let cut = 0; cut <= stream.length; cut += 1) {
      expect({ cut, ...read([stream.subarray(0, cut), stream.subarray(cut)]) }).toEqual({ cut, ...output });
    }
    expect(read([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(output);
  });

  it("delivers the bytes of a frame before it is complete", () => {
    expect(read([frame(1, "a long line").subarray(0, 14)])).toEqual({ stdout: "a long", stderr: "" });
  });

  it("refuses a stream that is not framed", () => {
    expect(() => read([Buffer.from("plain text")])).toThrow("not framed");
  });
});
