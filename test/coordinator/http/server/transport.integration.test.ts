import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { listen } from "../../../../coordinator/http/server/transport.ts";
import { acceptUpgrade } from "../../../support/servers/accept-upgrade.ts";
import { TEST_TRANSPORT } from "../../../support/transport.ts";
import { describeSockets } from "./sockets.contract.ts";
import { describeRequests } from "./transport.contract.ts";

/** Behaviour of uWebSockets.js that differs from Node's. The README of coordinator/http/server/uws lists it. */
const OF_UWS = {
  "get their responses in order if they arrive before an earlier response": "the library closes such a connection",
};

const IS_UWS = TEST_TRANSPORT.transport === "uws";

describeRequests(TEST_TRANSPORT, IS_UWS ? OF_UWS : {});
describeSockets(TEST_TRANSPORT);

it("the transport uws without its library does not start, and says how to install it", async () => {
  const options = { transport: "uws", transportModule: "/nowhere", host: "127.0.0.1", port: 0 } as const;
  await expect(listen(() => new Response(), options)).rejects.toThrow(
    /^transport = "uws" needs uWebSockets\.js, .*npm install uNetworking\/uWebSockets\.js#v20\..* uws_module/,
  );
});

it(`${TEST_TRANSPORT.transport} reports why it cannot listen`, async () => {
  const first = await listen(() => new Response(), { ...TEST_TRANSPORT, host: "127.0.0.1", port: 0 });
  const ask = (host: string) => listen(() => new Response(), { ...TEST_TRANSPORT, host, port: first.port });
  await expect(ask("127.0.0.1")).rejects.toMatchObject({ code: "EADDRINUSE", syscall: "listen" });
  await expect(ask("192.0.2.1")).rejects.toMatchObject({ code: "EADDRNOTAVAIL", syscall: "listen" });
  await first.close(AbortSignal.abort());
});

it.runIf(IS_UWS)("a paused socket of uws holds back 16 MB, and closes when more arrives", async () => {
  const listener = await listen(() => new Response(), { ...TEST_TRANSPORT, host: "127.0.0.1", port: 0 });
  listener.onUpgrade("/", async () => acceptUpgrade((socket) => socket.pause()));
  const client = new WebSocket(`ws://127.0.0.1:${listener.port}/`);
  await once(client, "open");
  const closed = once(client, "close");
  for (let frame = 0; frame < 17; frame += 1) client.send(Buffer.alloc(1_024 * 1_024));
  expect((await closed)[0]).toBe(1013);
  await listener.close(AbortSignal.abort());
});
