import { WebSocket } from "ws";
import type { Clock, Timer } from "../../shared/clock.ts";
import { CLOSE, encodeFrame, ProtocolError, readFromCoordinator } from "../../shared/protocol/codec.ts";
import { MAX_FRAME_BYTES, SESSION_PATH, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import type { FromCoordinator, Welcome } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello, IslandState } from "../../shared/protocol/from-island.ts";

export type Served = Exclude<FromCoordinator, { type: "welcome" | "goodbye" }>;

export interface LinkHandlers {
  hello(): Hello;
  state(): IslandState;
  /** A session is open; `send` works until `onLost`. */
  onWelcome(welcome: Welcome, send: (frame: FromIsland) => void): void;
  onFrame(frame: Served): void;
  onLost(): void;
}

/** How a session ended: whether to come back, and after how long (null: as the backoff says). */
export type SessionEnd =
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | null }
  | { readonly kind: "refused"; readonly reason: string };

/** The coordinator pings once per heartbeat; after so many without a sign it is taken for gone. */
const SILENCE_IN_HEARTBEATS = 2.5;
const WELCOME_LIMIT_MS = 15_000;

/** WebSocket address of a coordinator's Island sessions. */
export function sessionUrl(coordinatorUrl: string): string {
  const url = new URL(SESSION_PATH, coordinatorUrl);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** One session: dials, says hello, serves until the socket closes. Resolves with how it ended; never rejects. */
export function runSession(
  coordinatorUrl: string,
  token: string,
  clock: Clock,
  handlers: LinkHandlers,
  signal: AbortSignal,
): Promise<SessionEnd> {
  return new Promise((resolve) => {
    const socket = new WebSocket(sessionUrl(coordinatorUrl), SUBPROTOCOL, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      handshakeTimeout: 10_000,
    });
    let end: SessionEnd | null = null;
    let silence: Timer | null = null;
    let heartbeat: Timer | null = null;
    let silenceLimitMs = WELCOME_LIMIT_MS;
    let isWelcome = false;

    const send = (frame: FromIsland): void => {
      if (socket.readyState === socket.OPEN) socket.send(encodeFrame(frame), { binary: true });
    };
    const hearSign = (): void => {
      silence?.cancel();
      silence = clock.schedule(silenceLimitMs, () => {
        end ??= { kind: "retry", reason: "the coordinator is silent", afterMs: null };
        socket.terminate();
      });
    };
    const beat = (everyMs: number): void => {
      heartbeat = clock.schedule(everyMs, () => {
        send({ type: "heartbeat", state: handlers.state() });
        beat(everyMs);
      });
    };
    const receive = (frame: FromCoordinator): void => {
      if (frame.type === "goodbye") {
        end =
          frame.retryAfterMs === null
            ? { kind: "refused", reason: frame.reason }
            : { kind: "retry", reason: frame.reason, afterMs: frame.retryAfterMs };
        return;
      }
      if (frame.type === "welcome") {
        if (isWelcome) throw new ProtocolError("welcome: said twice");
        isWelcome = true;
        silenceLimitMs = frame.heartbeatMs * SILENCE_IN_HEARTBEATS;
        beat(frame.heartbeatMs);
        return handlers.onWelcome(frame, send);
      }
      if (!isWelcome) throw new ProtocolError(`${frame.type}: before welcome`);
      return handlers.onFrame(frame);
    };
    const onAbort = (): void => {
      end ??= { kind: "refused", reason: "the agent stops" };
      socket.close(CLOSE.normal, "the agent stops");
    };

    socket.on("open", () => send(handlers.hello()));
    socket.on("ping", hearSign);
    socket.on("message", (data) => {
      hearSign();
      try {
        receive(readFromCoordinator(data as Buffer));
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        end ??= { kind: "retry", reason: `bad frame from the coordinator: ${error.message}`, afterMs: null };
        socket.close(CLOSE.policyViolation, error.message.slice(0, 100));
      }
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      if (status === 401) end ??= { kind: "refused", reason: "the coordinator does not accept the token" };
      else end ??= { kind: "retry", reason: `the coordinator answered ${status}`, afterMs: null };
      socket.terminate();
    });
    socket.on("error", (error) => {
      end ??= { kind: "retry", reason: error.message, afterMs: null };
    });
    socket.on("close", (code, reason) => {
      silence?.cancel();
      heartbeat?.cancel();
      signal.removeEventListener("abort", onAbort);
      if (isWelcome) handlers.onLost();
      resolve(end ?? endOf(code, reason.toString()));
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    hearSign();
  });
}

function endOf(code: number, reason: string): SessionEnd {
  const said = reason === "" ? `closed with ${code}` : `closed with ${code}: ${reason}`;
  if (code === CLOSE.protocolError) return { kind: "refused", reason: said };
  return { kind: "retry", reason: said, afterMs: null };
}
