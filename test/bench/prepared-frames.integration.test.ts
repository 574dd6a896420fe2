import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { unpackFromIsland } from "../../bench/load/frames.ts";
import { PreparedFrames } from "../../bench/load/prepared-frames.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";

const frames = (jobId: string): FromIsland[] => [
  { type: "accepted", jobId, attempt: 1 },
  // Above 125 bytes, WebSocket encodes the length differently.
  {
    type: "output",
    jobId,
    attempt: 1,
    seq: 1,
    items: [{ type: "token", content: "long ".repeat(100), count: 1 }],
  },
];

it("PreparedFrames encodes the frames of each job as WebSocket messages", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const received: FromIsland[] = [];
  const all = new Promise<void>((resolve) => {
    server.on("connection", (socket) =>
      socket.on("message", (data) => {
        received.push(unpackFromIsland(data as Buffer));
        if (received.length === 4) resolve();
      }),
    );
  });
  await once(server, "listening");
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await once(client, "open");
  const run = new PreparedFrames(frames);
  const { _socket: socket } = client as unknown as { _socket: Socket };
  for (const jobId of ["job_1", "job_2"]) socket.write(run.bytesFor(jobId));
  await all;
  expect(received).toEqual([...frames("job_1"), ...frames("job_2")]);
  client.terminate();
  server.close();
});
