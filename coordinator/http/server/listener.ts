import { listenWithNode } from "./node-listener.ts";
import type { FetchHandler, Listener, ListenOptions } from "./transport.ts";
import { loadUws } from "./uws/load-uws.ts";
import { listenWithUws } from "./uws/uws-listener.ts";

/** Listens with the chosen transport. @throws when the address is in use or not one of this machine, or uWebSockets.js is missing. */
export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const { transport = "node", uwsModule = "uWebSockets.js" } = options;
  return transport === "node" ? listenWithNode(fetch, options) : listenWithUws(loadUws(uwsModule), fetch, options);
}
