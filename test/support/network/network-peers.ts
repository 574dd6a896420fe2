import { freePort } from "../free-port.ts";
import { NatsServer } from "../servers/nats-server.ts";
import { Program } from "../program.ts";
import { RoundRobin } from "../servers/round-robin.ts";
import { COORDINATORS } from "./several-coordinators.ts";

/** The additional coordinators of a network, and the load balancer in front of all. */
export class NetworkPeers implements AsyncDisposable {
  /** Flags of the first coordinator. */
  readonly firstFlags: readonly string[];
  readonly #opened: AsyncDisposableStack;
  readonly #balancer: RoundRobin;

  private constructor(firstFlags: readonly string[], opened: AsyncDisposableStack, balancer: RoundRobin) {
    this.firstFlags = firstFlags;
    this.#opened = opened;
    this.#balancer = balancer;
  }

  /**
   * `isFirstUp` is called for each request of a client. `args` and `env` are the arguments and environment of the first
   * coordinator.
   */
  static async open(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    isFirstUp: () => boolean,
  ): Promise<NetworkPeers> {
    await using opened = new AsyncDisposableStack();
    const nats = opened.use(await NatsServer.start());
    const flagsOf = (port: number): string[] => ["--bus", nats.address, "--port", String(port)];
    const ports = await Promise.all(Array.from({ length: COORDINATORS }, () => freePort()));
    const [first = 0, ...others] = ports;
    const programs = others.map((port) =>
      opened.use(new Program("coordinator", [...args, ...flagsOf(port)], { ...env })),
    );
    await Promise.all(programs.map((program) => program.printed(/listening on/)));
    const balancer = opened.use(await RoundRobin.open(() => (isFirstUp() ? ports : others)));
    return new NetworkPeers(flagsOf(first), opened.move(), balancer);
  }

  /** Address of the load balancer. */
  get url(): string {
    return this.#balancer.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}
