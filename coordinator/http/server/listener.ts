import { listenWithNode } from "./node-listener.ts";
import type { FetchHandler, Listener, ListenOptions } from "./transport.ts";

/** Listens with the chosen transport. @throws when the address is in use or not one of this machine. */
export function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  return listenWithNode(fetch, options);
}
