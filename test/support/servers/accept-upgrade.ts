import type { AcceptedUpgrade, SessionSocket } from "../../../coordinator/islands/session-socket.ts";

/** Accepts any upgrade with the first subprotocol, and passes its socket to `open`. */
export function acceptUpgrade(open: (socket: SessionSocket) => void = () => undefined): AcceptedUpgrade {
  return {
    headers: { "X-Own": "yes" },
    chooseProtocol: ([first]) => first,
    open: (socket) => open(socket),
    release: () => undefined,
  };
}
