import type { AcceptedUpgrade, SessionSocket } from "../../../coordinator/islands/session-socket.ts";

/** Lets any upgrade in, agrees on the first subprotocol, and gives its socket to `open`. */
export function acceptUpgrade(open: (socket: SessionSocket) => void = () => undefined): AcceptedUpgrade {
  return {
    headers: { "X-Own": "yes" },
    chooseProtocol: ([first]) => first,
    open: (socket) => open(socket),
    release: () => undefined,
  };
}
