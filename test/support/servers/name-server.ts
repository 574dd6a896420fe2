import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NXDOMAIN = 3;
const TTL_S = [0, 0, 0, 60];

/** A name server on a real port. Responds with `records`, ignores names in `silent`, and rejects others. */
export class NameServer implements AsyncDisposable {
  readonly records = new Map<string, { readonly ipv4?: readonly string[]; readonly ipv6?: readonly Uint8Array[] }>();
  readonly silent = new Set<string>();
  /** Names that were requested, with one entry per question. */
  readonly requested: string[] = [];
  readonly #socket: Socket = createSocket("udp4");
  readonly #wakers = new Set<() => void>();

  static async start(): Promise<NameServer> {
    const server = new NameServer();
    server.#socket.on("message", (query, from) => server.#respond(query, from));
    server.#socket.bind(0, "127.0.0.1");
    await once(server.#socket, "listening");
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** Resolves when all `names` have been requested. */
  async askedFor(names: readonly string[]): Promise<void> {
    while (!names.every((name) => this.requested.includes(name))) {
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }

  /** Source: RFC 1035 §4. */
  #respond(query: Buffer, { port, address }: RemoteInfo): void {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) {
      labels.push(query.toString("latin1", end + 1, end + 1 + length));
      end += 1 + length;
    }
    end += 5;
    const name = labels.join(".");
    this.requested.push(name);
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
    if (this.silent.has(name)) return;
    const type = query.readUInt16BE(end - 4);
    const { ipv4 = [], ipv6 = [] } = this.records.get(name) ?? {};
    const bytes =
      { [TYPE_A]: ipv4.map((text) => Uint8Array.from(text.split("."), Number)), [TYPE_AAAA]: ipv6 }[type] ?? [];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 + (this.records.has(name) ? 0 : NXDOMAIN), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(bytes.length, 6);
    const answers = bytes.map((value) => Buffer.from([0xc0, 12, 0, type, 0, 1, ...TTL_S, 0, value.length, ...value]));
    this.#socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), port, address);
  }
}
