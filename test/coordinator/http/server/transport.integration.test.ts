import { it } from "vitest";
import { TRANSPORTS } from "../../../support/transport.ts";
import { describeSockets } from "./sockets.contract.ts";
import { describeRequests } from "./transport.contract.ts";

/** What uWebSockets.js does in its own way. Operators read it in docs/operations.md. */
const OF_UWS = {
  "that come before the answer to the one before are answered in order": "the library closes such a connection",
};

for (const choice of TRANSPORTS) {
  describeRequests(choice, choice.transport === "uws" ? OF_UWS : {});
  describeSockets(choice);
}

it.skipIf(TRANSPORTS.length > 1)(
  "the transport uws [skipped: node test/support/uws/install.ts installs its library]",
  () => undefined,
);
