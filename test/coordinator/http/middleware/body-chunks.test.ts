import { PassThrough } from "node:stream";
import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { readJson } from "../../../../coordinator/http/middleware/body.ts";

it("readJson() joins chunks after the first, because a million chunks of one byte would take 150 MB", async () => {
  const body = JSON.stringify({ prompt: "é".repeat(5_000) });
  const incoming = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage;
  const read = readJson(incoming);
  const bytes = Buffer.from(body);
  incoming.emit("data", bytes.subarray(0, 1));
  // All chunks share one buffer, so a kept chunk would contain the last byte at the end.
  const chunk = Buffer.alloc(1);
  for (const byte of bytes.subarray(1)) {
    chunk[0] = byte;
    incoming.emit("data", chunk);
  }
  incoming.emit("end");
  await expect(read).resolves.toEqual(JSON.parse(body));
});

it("readJson() does not wait for a client that has disconnected", async () => {
  const incoming = Object.assign(new PassThrough(), { headers: {} });
  incoming.destroy();
  await new Promise((resolve) => incoming.once("close", resolve));
  await expect(readJson(incoming as unknown as IncomingMessage)).rejects.toThrow("Send the request again");
});
