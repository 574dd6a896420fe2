/**
 * Addresses of the network's coordinators that the owner configured. Any of these coordinators accepts the Island. Each
 * Island dials them in a random order, so that the Islands of a lost coordinator spread over the others.
 */
export class CoordinatorAddresses {
  readonly #configured: readonly string[];
  #index = 0;
  /** Address that a coordinator named and that is not configured; used for one session. */
  #detour: string | null = null;
  /** Number of addresses that are still dialed without a wait. */
  #immediateDials: number;
  /** Whether a coordinator may still choose the next address. */
  #maySend = true;
  readonly #refusing = new Set<string>();

  /**
   * @param configured base URLs, at least one.
   * @param random 0 (inclusive) to 1 (exclusive); chooses the order.
   */
  constructor(configured: readonly string[], random: () => number) {
    this.#configured = shuffled(configured, random);
    this.#immediateDials = configured.length - 1;
  }

  /** Address to dial, or the one that was dialed most recently. */
  get current(): string {
    return this.#detour ?? this.#configured[this.#index] ?? "";
  }

  /**
   * Advances to another address: to `named` if the current coordinator names one that this Island may follow, otherwise
   * to the next configured one. Returns whether to dial it immediately, which is true once per address before a wait.
   */
  advance(named: string | null): boolean {
    const from = this.current;
    if (this.#detour === null) this.#index = (this.#index + 1) % this.#configured.length;
    this.#detour = null;
    if (named !== null && this.#maySend) {
      this.#maySend = false;
      this.#follow(named, from);
      return true;
    }
    if (this.#immediateDials > 0) {
      this.#immediateDials -= 1;
      return true;
    }
    this.#immediateDials = this.#configured.length - 1;
    return false;
  }

  /**
   * Records a refusal by the current coordinator. Returns whether all coordinators have refused since the last welcome.
   */
  refused(): boolean {
    if (this.#detour === null) this.#refusing.add(this.current);
    return this.#refusing.size === new Set(this.#configured).size;
  }

  welcomed(): void {
    this.#refusing.clear();
  }

  /** Records that the session is stable. After its end, all other addresses are again dialed immediately. */
  settled(): void {
    this.#immediateDials = this.#configured.length - 1;
    this.#maySend = true;
  }

  /**
   * Follows an address only if it is configured or has the same certificate. A malicious coordinator could otherwise
   * redirect token and connections to any server in plain text, or into the owner's network.
   */
  #follow(named: string, from: string): void {
    const to = URL.parse(named);
    if (to === null) return;
    const known = this.#configured.findIndex((address) => isSame(address, named));
    if (known !== -1) this.#index = known;
    else if (isSameTlsHost(to, URL.parse(from))) this.#detour = `${to.origin}${to.pathname}`.replace(/\/+$/, "");
  }
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => URL.parse(text)?.href.replace(/\/+$/, ""));
  return left !== undefined && left === right;
}

function isSameTlsHost(a: URL, b: URL | null): boolean {
  return a.protocol === "https:" && b?.protocol === "https:" && a.hostname === b.hostname;
}

/** Source: Fisher and Yates. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(random() * (last + 1));
    [order[last], order[chosen]] = [order[chosen] as T, order[last] as T];
  }
  return order;
}
