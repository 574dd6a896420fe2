import type { Socket } from "node:net";
import { WebSocket } from "ws";
import type { Clock, Timer } from "../../shared/clock.ts";
import { PUBLIC_KEY_HEADER } from "../../shared/cargo-signature.ts";
import { gatherWrites } from "../../shared/async/gather-writes.ts";
import {
  CLOSE,
  encodeFrame,
  MAX_FRAME_BYTES,
  ProtocolError,
  readFromCoordinator,
  SESSION_PATH,
  SILENCE_IN_HEARTBEATS,
  SUBPROTOCOL,
} from "../../shared/protocol/codec.ts";
import type { FromCoordinator, Welcome } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, Hello, IslandState } from "../../shared/protocol/from-island.ts";

export type SessionFrame = Exclude<FromCoordinator, { type: "welcome" | "goodbye" }>;

export interface LinkHandlers {
  hello(): Hello;
  state(): IslandState;
  /** Returns why to leave a coordinator that shows this public key; null to stay. */
  distrust(publicKey: string): string | null;
  /** Called when a session is open. `send` works until `onLost`; false: the socket is behind, `onDrained` follows. */
  onWelcome(welcome: Welcome, send: (frame: FromIsland) => boolean): void;
  /** Called when the socket has sent all frames. */
  onDrained(): void;
  /** Called after one heartbeat interval, which shows that the coordinator accepts this Island. */
  onSettled(): void;
  onFrame(frame: SessionFrame): void;
  onLost(): void;
}

/** Reason of a signal that ends a session for a new one. */
export class SessionRenewal extends Error {
  override readonly name = "SessionRenewal";
}

export type SessionEnd =
  | {
      readonly kind: "retry";
      readonly reason: string;
      /** Wait that the coordinator requested; null if it requested none. */
      readonly afterMs: number | null;
      /** Another coordinator that this one names; null if it names none. */
      readonly address: string | null;
    }
  /** Session ended by this Island for another one with the same coordinator. */
  | { readonly kind: "renewal"; readonly reason: string }
  /** Refused by the coordinator. `isFinal`: the network's other coordinators also refuse this Island. */
  | { readonly kind: "refused"; readonly reason: string; readonly isFinal: boolean };

/** Maximum wait for the socket, and for `welcome` on it. */
const MAX_WELCOME_WAIT_MS = 15_000;
/** Maximum wait for the other side's close frame. */
const MAX_CLOSE_MS = 2_000;
/** Maximum length of a close reason: 123 bytes, with at most 3 per UTF-16 unit. Source: RFC 6455 §5.5. */
const MAX_REASON_UNITS = 41;

/** Returns the WebSocket URL of Island sessions. Keeps the address's path, for reverse proxies. */
export function sessionUrl(coordinatorUrl: string): string {
  const { protocol, host, pathname } = new URL(coordinatorUrl);
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${pathname.replace(/\/+$/, "")}${SESSION_PATH}`;
}

/** Runs one session: dials, sends `hello`, serves until the socket closes. Resolves to its end; never rejects. */
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
    let wire: Socket | null = null;
    let silence: Timer | null = null;
    let lastReceivedMs = clock.monotonicMs();
    let heartbeat: Timer | null = null;
    let closing: Timer | null = null;
    let silenceLimitMs = MAX_WELCOME_WAIT_MS;
    let isWelcome = false;

    const send = (frame: FromIsland): boolean => {
      if (socket.readyState !== socket.OPEN) return true;
      // Writes are gathered, so that a job reaches its host process before the report to the coordinator is written.
      if (wire !== null) gatherWrites(wire, "tick");
      socket.send(encodeFrame(frame), { binary: true });
      return wire?.writableNeedDrain !== true;
    };
    const close = (code: number, reason: string): void => {
      socket.close(code, reason);
      closing ??= clock.schedule(MAX_CLOSE_MS, () => socket.terminate());
    };
    /** Uses one timer for many messages. When it fires, it checks the time of the most recent message. */
    const watchSilence = (forMs: number): void => {
      silence?.cancel();
      silence = clock.schedule(forMs, () => {
        const leftMs = lastReceivedMs + silenceLimitMs - clock.monotonicMs();
        if (leftMs > 0) return watchSilence(leftMs);
        end ??= retry("no message from the coordinator");
        socket.terminate();
      });
    };
    const recordActivity = (): void => {
      lastReceivedMs = clock.monotonicMs();
    };
    const beat = (everyMs: number, isFirst: boolean): void => {
      heartbeat = clock.schedule(everyMs, () => {
        if (isFirst) handlers.onSettled();
        send({ type: "heartbeat", state: handlers.state() });
        beat(everyMs, false);
      });
    };
    const receive = (frame: FromCoordinator): void => {
      if (frame.type === "goodbye") {
        end =
          frame.retryAfterMs === null
            ? { kind: "refused", reason: frame.reason, isFinal: true }
            : { ...retry(frame.reason), afterMs: frame.retryAfterMs, address: frame.address ?? null };
        return;
      }
      if (frame.type === "welcome") {
        if (isWelcome) throw new ProtocolError("welcome: sent twice");
        isWelcome = true;
        silenceLimitMs = frame.heartbeatMs * SILENCE_IN_HEARTBEATS;
        watchSilence(silenceLimitMs);
        beat(frame.heartbeatMs, true);
        return handlers.onWelcome(frame, send);
      }
      if (!isWelcome) throw new ProtocolError(`${frame.type}: before welcome`);
      return handlers.onFrame(frame);
    };
    const onAbort = (): void => {
      const renewal = signal.reason instanceof SessionRenewal ? signal.reason.message : null;
      const reason = renewal ?? "the agent stops";
      end ??= renewal === null ? { kind: "refused", reason, isFinal: true } : { kind: "renewal", reason };
      close(CLOSE.normal, reason);
    };

    socket.on("upgrade", ({ headers, socket: upgraded }) => {
      wire = upgraded;
      wire.on("drain", () => {
        if (isWelcome) handlers.onDrained();
      });
      const shown = headers[PUBLIC_KEY_HEADER];
      const reason = typeof shown === "string" ? handlers.distrust(shown) : null;
      if (reason === null) return;
      end ??= refused(reason);
      socket.terminate();
    });
    socket.on("open", () => send(handlers.hello()));
    socket.on("ping", recordActivity);
    socket.on("message", (data) => {
      // Ignore frames that arrive after our close.
      if (socket.readyState !== socket.OPEN) return;
      recordActivity();
      try {
        receive(readFromCoordinator(data as Buffer));
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        end ??= retry(`invalid frame from the coordinator: ${error.message}`);
        close(CLOSE.policyViolation, error.message.slice(0, MAX_REASON_UNITS));
      }
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      if (status === 401) end ??= refused("the coordinator rejected the token");
      else end ??= retry(`the coordinator responded with status ${status}`);
      socket.terminate();
    });
    socket.on("error", (error) => {
      end ??= retry(error.message);
    });
    socket.on("close", (code, reason) => {
      silence?.cancel();
      heartbeat?.cancel();
      closing?.cancel();
      signal.removeEventListener("abort", onAbort);
      if (isWelcome) handlers.onLost();
      resolve(end ?? endOf(code, reason.toString()));
    });
    watchSilence(silenceLimitMs);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

function endOf(code: number, reason: string): SessionEnd {
  const ended = reason === "" ? `closed with ${code}` : `closed with ${code}: ${reason}`;
  return code === CLOSE.protocolError ? refused(ended) : retry(ended);
}

function retry(reason: string): Extract<SessionEnd, { kind: "retry" }> {
  return { kind: "retry", reason, afterMs: null, address: null };
}

function refused(reason: string): SessionEnd {
  return { kind: "refused", reason, isFinal: false };
}
