import fc from "fast-check";
import { pack } from "msgpackr";
import { describe, expect, it } from "vitest";
import { encodeFrame, ProtocolError, readFromCoordinator, readFromIsland } from "../../shared/protocol/codec.ts";
import { makeHello } from "../support/network/frames.ts";

const outputOf = (item: object): Buffer => pack({ type: "output", jobId: "j", attempt: 1, seq: 1, items: [item] });

describe("readFromIsland()", () => {
  it("returns what encodeFrame() packed", () => {
    const hello = makeHello();
    expect(readFromIsland(encodeFrame(hello))).toEqual(hello);
  });

  it("keeps 64-bit byte counts exact", () => {
    const hello = makeHello({ ramBytes: 2 ** 40 + 1 });
    expect(readFromIsland(encodeFrame(hello))).toEqual(hello);
  });

  it.each([
    ["bytes that are not MessagePack", Buffer.from([0xc1, 0xff]), "must be MessagePack"],
    ["an empty frame", Buffer.alloc(0), "must be MessagePack"],
    ["a number", pack(7), "expected object"],
    ["an unknown type", pack({ type: "reboot" }), "type"],
    ["a missing field", pack({ type: "started", jobId: "job_1" }), "attempt"],
    [
      "an invalid field",
      pack({ type: "output", jobId: "j", attempt: 1, seq: 1, items: [{ type: "token", content: 5, count: 1 }] }),
      "items.0.content",
    ],
    ["no items", pack({ type: "output", jobId: "j", attempt: 1, seq: 1, items: [] }), "items"],
    ["attempt 0", pack({ type: "started", jobId: "j", attempt: 0 }), "attempt"],
    ["an image that is not base64", outputOf({ type: "image", data: "\u0000".repeat(9), format: "png" }), "base64"],
    ["a frame of the other direction", pack({ type: "ack", jobId: "j", attempt: 1, seq: 1 }), "type"],
  ])("names the fault of %s", (_title, raw, named) => {
    expect(() => readFromIsland(raw)).toThrow(ProtocolError);
    expect(() => readFromIsland(raw)).toThrow(named);
  });

  it("accepts images of any size", () => {
    for (const data of ["", "iVBORw==", "A".repeat(7_500_000)]) {
      expect(readFromIsland(outputOf({ type: "image", data, format: "png" }))).toMatchObject({ items: [{ data }] });
    }
  });

  it("throws only ProtocolError, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        for (const read of [readFromIsland, readFromCoordinator]) {
          try {
            read(raw);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
