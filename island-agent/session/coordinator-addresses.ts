/**
 * Where this Island finds its network: the coordinators that its owner configured, any of which takes it. Each Island dials them in an
 * order of its own, so that the Islands of a lost coordinator spread over the others.
 */
export class CoordinatorAddresses {
  readonly #configured: readonly string[];
  #index = 0;
  /** Named by a coordinator and not configured: for one session. */
  #detour: string | null = null;
  /** How many are still dialed without a wait. */
  #quickDials: number;
  /** Whether a coordinator may still choose the next one. */
  #maySend = true;
  readonly #refusing = new Set<string>();

  /**
   * @param configured base URLs, at least one.
   * @param random 0 (included) to 1 (excluded); chooses the order.
   */
  constructor(configured: readonly string[], random: () => number) {
    this.#configured = shuffled(configured, random);
    this.#quickDials = configured.length - 1;
  }

  /** The one to dial, or that was dialed last. */
  get current(): string {
    return this.#detour ?? this.#configured[this.#index] ?? "";
  }

  /**
   * Goes on to another one: to `named` where the present coordinator names one that this Island may follow to, else to the next that is
   * configured. Returns whether it is dialed at once. Each is, before there is a wait.
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
    if (this.#quickDials > 0) {
      this.#quickDials -= 1;
      return true;
    }
    this.#quickDials = this.#configured.length - 1;
    return false;
  }

  /** The present coordinator does not take this Island. Returns whether all have said so since one took it. */
  refused(): boolean {
    if (this.#detour === null) this.#refusing.add(this.current);
    return this.#refusing.size === new Set(this.#configured).size;
  }

  /** The present coordinator takes this Island. */
  welcomed(): void {
    this.#refusing.clear();
  }

  /** The session lasts: after its end, all others are dialed at once again. */
  settled(): void {
    this.#quickDials = this.#configured.length - 1;
    this.#maySend = true;
  }

  /**
   * The token goes where a coordinator says, so that one which lies could send it, and connections, anywhere: to a server of its choice in
   * plain text, or into the owner's own network. Only what the owner configured is followed, and what has the same certificate.
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
