import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../../shared/clock.ts";
import { peerKey } from "../vanished-clients.ts";
import type { UwsRequest, UwsResponse } from "./load-uws.ts";
import type { TickFlush } from "./tick-flush.ts";
import { UwsOutgoing } from "./uws-outgoing.ts";
import { UwsIncoming } from "./uws-incoming.ts";

/** Maximum wait for the rest of a body after the response is complete, as in the transport `node`. */
const DRAIN_MS = 500;

export class UwsExchange {
  readonly incoming: UwsIncoming;
  readonly outgoing: UwsOutgoing;
  readonly startedMs: number;
  readonly #response: UwsResponse;
  #drain: Timer | null = null;

  constructor(
    response: UwsResponse,
    request: UwsRequest,
    ticks: TickFlush,
    clock: Pick<Clock, "monotonicMs" | "schedule">,
  ) {
    this.#response = response;
    this.startedMs = clock.monotonicMs();
    const outgoing = new UwsOutgoing(response, request.getCaseSensitiveMethod(), ticks, () => clock.monotonicMs());
    this.outgoing = outgoing;
    this.incoming = new UwsIncoming(request, response, {
      get remoteAddress() {
        return outgoing.isOver ? undefined : textOf(new Uint8Array(response.getRemoteAddress()));
      },
      get destroyed() {
        return outgoing.destroyed;
      },
      destroySoon: () => {
        outgoing.isLast = true;
      },
    });
    outgoing.mayEnd = () => this.#mayEnd(clock);
    outgoing.once("close", () => {
      this.#drain?.cancel();
      this.incoming.close(outgoing.writableFinished ? null : new Error("The client disconnected"));
    });
  }

  /**
   * Returns whether a complete response may be sent. If it is ready before the whole request body has arrived (a 413,
   * for example), it waits while the rest of the body is dropped. Closing earlier would reset the connection, and the
   * client would lose the response.
   */
  #mayEnd(clock: Pick<Clock, "schedule">): boolean {
    if (this.incoming.complete || this.outgoing.isLast) return true;
    if (this.#drain !== null) return false;
    const end = (): void => {
      this.#drain?.cancel();
      this.outgoing.queueFlush();
    };
    this.#drain = clock.schedule(DRAIN_MS, () => {
      this.outgoing.isLast = true;
      end();
    });
    this.incoming.discard(end);
    return false;
  }

  /** Returns the exchange with Node's types. The API uses only members that the two classes have. */
  asNode(): { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse } {
    return {
      incoming: this.incoming as unknown as IncomingMessage,
      outgoing: this.outgoing as unknown as ServerResponse,
    };
  }

  upgrade(act: (response: UwsResponse) => void): void {
    this.outgoing.upgrade(() => this.#response.cork(() => act(this.#response)));
  }

  destroy(): void {
    this.outgoing.destroy();
  }

  /** Returns the connection's key in the operating system's table (see {@link peerKey}); null if the key is unknown. */
  peerKey(localPort: number): string | null {
    if (this.outgoing.isOver) return null;
    const address = new Uint8Array(this.#response.getRemoteAddress());
    const port = this.#response.getRemotePort?.();
    return port === undefined || address.length === 0 ? null : peerKey(localPort, address, port);
  }
}

/** Formats an address as text. An IPv4 address that is mapped into IPv6 is formatted as IPv4. */
function textOf(address: Uint8Array): string | undefined {
  if (address.length === 4) return address.join(".");
  if (address.length !== 16) return undefined;
  const isMapped = address.subarray(0, 10).every((byte) => byte === 0) && address[10] === 255 && address[11] === 255;
  if (isMapped) return address.subarray(12).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => {
    const [high = 0, low = 0] = address.subarray(2 * index);
    return ((high << 8) | low).toString(16);
  });
  return groups.join(":");
}
