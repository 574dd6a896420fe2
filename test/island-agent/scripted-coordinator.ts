import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { ACCOUNT_HEADER, PUBLIC_KEY_HEADER, publicKeyText, signedBytes } from "../../shared/cargo-signature.ts";
import type { CargoManifest } from "../../shared/cargo.ts";
import { encodeFrame, MAX_FRAME_BYTES, readFromIsland, SUBPROTOCOL } from "../../shared/protocol/codec.ts";
import type { Assign, FromCoordinator, HeldDecision, Welcome } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { EventLog } from "../support/event-log.ts";

type FrameOf<T extends FromIsland["type"]> = Extract<FromIsland, { type: T }>;

/** A frame as a test writes it. A Cargo without a signature is signed when it is sent. */
type Scripted =
  | FromCoordinator
  | Omit<Assign, "signature">
  | Omit<Extract<FromCoordinator, { type: "preload" }>, "signature">;

export const HEARTBEAT_MS = 10_000;

const { privateKey } = generateKeyPairSync("ed25519");

/** Signs with the key of {@link ScriptedCoordinator.publicKey}. */
export function signManifest(manifest: CargoManifest, accountId: string | null = null): string {
  return sign(null, signedBytes(manifest, accountId), privateKey).toString("base64");
}

function signed(frame: Scripted): FromCoordinator {
  if (frame.type !== "assign" && frame.type !== "preload") return frame;
  const given = "signature" in frame ? frame.signature : "";
  return { ...frame, signature: given === "" ? signManifest(frame.cargo) : given };
}

export function makeWelcome(override: Partial<Welcome> = {}): Welcome {
  return {
    type: "welcome",
    sessionId: "ses_1",
    heartbeatMs: HEARTBEAT_MS,
    maxFrameBytes: MAX_FRAME_BYTES,
    held: [],
    ...override,
  };
}

/** The coordinator's side of one session, whose frames the test sends. */
export class ScriptedSession {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Types of all frames received, and "pong", "closed". */
  readonly events = new EventLog();
  readonly #received: FromIsland[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    const closed = Promise.withResolvers<{ code: number; reason: string }>();
    this.closed = closed.promise;
    socket.on("message", (data) => {
      const frame = readFromIsland(data as Buffer);
      this.#received.push(frame);
      this.events.add(frame.type);
    });
    socket.on("pong", () => this.events.add("pong"));
    socket.on("close", (code, reason) => {
      closed.resolve({ code, reason: reason.toString() });
      this.events.add("closed");
    });
  }

  send(...frames: Scripted[]): void {
    for (const frame of frames) this.socket.send(encodeFrame(signed(frame)));
  }

  /** Waits for the `count`th frame of a type. */
  async next<T extends FromIsland["type"]>(type: T, count = 1): Promise<FrameOf<T>> {
    await this.events.happened(type, count);
    return this.frames(type)[count - 1] as FrameOf<T>;
  }

  frames<T extends FromIsland["type"]>(type: T): FrameOf<T>[] {
    return this.#received.filter((frame) => frame.type === type) as FrameOf<T>[];
  }

  /** Waits for hello, and sends welcome. */
  async welcome(override: Partial<Welcome> = {}): Promise<FrameOf<"hello">> {
    const hello = await this.next("hello");
    this.send(makeWelcome(override));
    return hello;
  }

  ackAll(jobId: string, attempt: number): void {
    const last = this.#received.findLast(
      (frame) => "seq" in frame && frame.jobId === jobId && frame.attempt === attempt,
    );
    if (last !== undefined && "seq" in last) this.send({ type: "ack", jobId, attempt, seq: last.seq });
  }

  /** Resolves when the Island has processed all earlier frames, which a pong shows. */
  async processed(): Promise<void> {
    const pongs = this.events.count("pong");
    this.socket.ping();
    await this.events.happened("pong", pongs + 1);
  }
}

export const decide = (action: "continue" | "drop", jobId = "job_1", attempt = 1, ackedSeq = 0): HeldDecision =>
  action === "drop" ? { jobId, attempt, action } : { jobId, attempt, action, ackedSeq };

/** A coordinator on real sockets, whose frames the test writes. */
export class ScriptedCoordinator implements AsyncDisposable {
  readonly requests: { path: string; authorization: string | undefined }[] = [];
  /** Statuses that refuse the next upgrades with a token. */
  readonly refusals: number[] = [];
  /** Public key in the responses to the next upgrades, or null for none. */
  shownKey: string | null;
  /** Whether requests other than upgrades get 200. Otherwise they get 404. */
  isHealthy = false;
  /** Account that is reported for a token, or null for none. */
  account: string | null = "user_1";
  readonly publicKey = publicKeyText(createPublicKey(privateKey));
  readonly #http: Server;
  readonly #ws: WebSocketServer;
  readonly #sessions: ScriptedSession[] = [];
  readonly #events = new EventLog();
  #port: number;

  private constructor() {
    this.#port = 0;
    this.shownKey = this.publicKey;
    this.#http = createServer((_request, response) => response.writeHead(this.isHealthy ? 200 : 404).end());
    this.#ws = new WebSocketServer({ noServer: true, handleProtocols: () => SUBPROTOCOL });
    this.#ws.on("headers", (headers) => {
      if (this.shownKey !== null) headers.push(`${PUBLIC_KEY_HEADER}: ${this.shownKey}`);
      if (this.account !== null) headers.push(`${ACCOUNT_HEADER}: ${this.account}`);
    });
    this.#http.on("upgrade", (request, socket, head) => {
      this.requests.push({ path: request.url ?? "", authorization: request.headers.authorization });
      const hasToken = request.headers.authorization !== undefined;
      const status = hasToken ? this.refusals.shift() : 401;
      if (status !== undefined) {
        // The Island closes the connection after the response.
        socket.on("error", () => socket.destroy());
        this.#events.add("refused");
        const key = this.shownKey === null ? "" : `${PUBLIC_KEY_HEADER}: ${this.shownKey}\r\n`;
        socket.end(`HTTP/1.1 ${status} No\r\n${key}Connection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.#ws.handleUpgrade(request, socket, head, (ws) => {
        this.#sessions.push(new ScriptedSession(ws));
        this.#events.add("session");
      });
    });
  }

  static async open(): Promise<ScriptedCoordinator> {
    const coordinator = new ScriptedCoordinator();
    await coordinator.listen();
    return coordinator;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get sessions(): number {
    return this.#sessions.length;
  }

  /** Waits for the `count`th session. */
  async session(count: number): Promise<ScriptedSession> {
    await this.#events.happened("session", count);
    return this.#sessions[count - 1] as ScriptedSession;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#http.address() as AddressInfo).port;
  }

  /** Closes every socket and accepts no new ones, like a coordinator that died. */
  async vanish(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const { socket } of this.#sessions) socket.terminate();
    this.#http.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#sessions) socket.terminate();
    this.#http.closeAllConnections();
    if (this.#http.listening) await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }
}
