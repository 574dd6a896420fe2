import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { newId } from "../../../shared/ids.ts";
import { openAccounts, type Accounts } from "../../../coordinator/accounts/accounts.ts";
import { openCargos } from "../../../coordinator/catalog/cargo-service.ts";
import { makeCatalog } from "../../../coordinator/catalog/catalog.ts";
import { openConversations } from "../../../coordinator/conversations/conversations.ts";
import { grantPostings } from "../../../coordinator/credits/postings.ts";
import { accountEvents } from "../../../coordinator/events/account-events.ts";
import { dialects } from "../../../coordinator/dialects/dialects.ts";
import { createApp } from "../../../coordinator/http/app.ts";
import type { Batches } from "../../../coordinator/dialects/batches/open-batches.ts";
import type { HttpDeps } from "../../../coordinator/http/http-deps.ts";
import type { HttpOptions } from "../../../coordinator/http/http-options.ts";
import { listen, type Listener } from "../../../coordinator/http/server/transport.ts";
import { islandService } from "../../../coordinator/islands/island-service.ts";
import type { Overview } from "../../../coordinator/operators/network-view.ts";
import type { Account, AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import { unwatchOrigin, watchOrigin } from "../../support/http/response-watch.ts";
import { makeFastDirectory } from "../../support/fast-directory.ts";
import { atFileEnd } from "../../support/file-end.ts";
import { TEST_HTTP_OPTIONS } from "../../support/http/http-options.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { TEST_LISTEN } from "../../support/transport.ts";
import { noBatches } from "./scripted-batches.ts";
import { ScriptedJobs } from "./scripted-jobs.ts";
import { CARGOS } from "./api-catalog.ts";
import { openTestBatches, openTestFiles } from "./api-files.ts";
import type { Files } from "../../../coordinator/files/open-files.ts";
import { ApiModels } from "./api-models.ts";
import { ApiNetwork, type ApiMember } from "./api-network.ts";
import { apiOperators } from "./api-operators.ts";
import { quickPasswords } from "../../support/quick-passwords.ts";
import { RoundRobin } from "../../support/servers/round-robin.ts";
import { ARE_SEVERAL, COORDINATORS } from "../../support/network/several-coordinators.ts";
import { openTestStore, type TestStore } from "../../support/store/test-store.ts";

/** One store for all tests of a file, each of which has its own account. */
let store: TestStore;
let opening: Promise<void> | undefined;

async function openStore(): Promise<void> {
  const directory = await makeFastDirectory("atoll-http-store-");
  store = await openTestStore({ path: join(directory, "atoll.db"), clock: new ManualClock() });
  atFileEnd(async () => {
    opening = undefined;
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
  readonly body: any;
}

interface CallOptions {
  readonly key?: string | null;
  /** Body, which is sent as JSON. A string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Prefix of the path. Default: the prefix of the API. */
  readonly base?: string;
}

/**
 * The whole API on a real port, over scripted jobs and a clock that stands still. With ATOLL_TEST_COORDINATORS several
 * coordinators serve it. Each has its own limits and callers, and each request goes to the next one. `port`, `raw` and
 * `listener` belong to the first.
 */
export class Api implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly catalog = makeCatalog(CARGOS, { chat: "tiny" });
  readonly jobs = new ScriptedJobs(this.catalog);
  readonly logLines: Record<string, unknown>[] = [];
  /** Account of all keys below. */
  account!: Account;
  key = "";
  readKey = "";
  writeKey = "";
  /** Island tokens whose sessions were ended. */
  readonly endedTokens: string[] = [];
  recommend: HttpDeps["recommend"] = async () => [];
  readonly models = new ApiModels();
  checkStore: () => Promise<void> = () => store.check();
  readonly storeState = { check: () => this.checkStore(), readOnlyReason: null as string | null };
  /** Operators' view of the network. Default: an empty network. */
  overview: (() => Promise<Overview>) | null = null;
  /** Options of all coordinators. */
  readonly events = accountEvents(this.clock);
  /** State of each coordinator of this API. */
  bus: HttpDeps["bus"] = null;
  readonly accounts: Accounts;
  readonly #network: ApiNetwork;
  files!: Files;
  fileBatches!: Batches;
  readonly #registration: "open" | "closed";
  #listeners: readonly Listener[] = [];
  #balancer: RoundRobin | null = null;
  #directory = "";

  /** Address of the model hub. */
  hubUrl = "https://hub.example";

  private constructor(registration: "open" | "closed") {
    this.#registration = registration;
    this.#network = new ApiNetwork(ARE_SEVERAL ? COORDINATORS : 1, store, this.clock);
    this.accounts = this.#openAccounts(this.#first);
  }

  static async open(options: Partial<HttpOptions> = {}, registration: "open" | "closed" = "open"): Promise<Api> {
    await (opening ??= openStore());
    const api = new Api(registration);
    await api.#start(options);
    return api;
  }

  get accountId(): string {
    return this.account.id;
  }

  async setLimits(limits: Partial<AccountLimits>, accountId = this.accountId): Promise<void> {
    await store.accounts.setLimits(accountId, limits);
    this.#first.credentials.changed();
  }

  get #first(): ApiMember {
    const [first] = this.#network.members;
    if (first === undefined) throw new Error("A network has at least one coordinator");
    return first;
  }

  get store(): TestStore {
    return store;
  }

  get listener(): Listener {
    const [first] = this.#listeners;
    if (first === undefined) throw new Error("The API is not open");
    return first;
  }

  get port(): number {
    return this.listener.port;
  }

  /** Folder of the served model files. */
  get directory(): string {
    return this.#directory;
  }

  get url(): string {
    return this.#balancer?.url ?? `http://127.0.0.1:${this.port}`;
  }

  fetch(
    method: string,
    path: string,
    { key = this.key, body, headers = {}, base = "/api/v1" }: CallOptions = {},
  ): Promise<Response> {
    return fetch(`${this.url}${base}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<ApiResponse> {
    const response = await this.fetch(method, path, options);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("application/json") === true && text !== "";
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
  }

  /** Opens a bare connection and sends `head`. Lines end in CR LF, and the empty line is added. */
  async raw(...head: string[]): Promise<Socket> {
    const socket = connect(this.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    return socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unwatchOrigin(this.url);
    await Promise.all(this.#listeners.map((listener) => listener.close(AbortSignal.abort())));
    await this.#balancer?.[Symbol.asyncDispose]();
    await this.accounts.settled();
    this.events.close();
    await this.fileBatches.close();
    await this.files.close();
    this.#network.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #start(options: Partial<HttpOptions>): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), "atoll-http-"));
    const { clock, catalog, jobs } = this;
    this.files = openTestFiles(store, clock, join(this.#directory, "files"));
    this.fileBatches = openTestBatches(store, clock, this.files, jobs, catalog);
    const [createdAtMs, id] = [this.clock.now(), newId("user", this.clock.now())];
    // The account is written directly to the store, because hashing a password is slow by design and most tests need
    // none.
    this.account = await store.accounts.create({
      id,
      email: `${id}@example.com`,
      passwordHash: "",
      postings: grantPostings(id, 10_000_500_000),
      createdAtMs,
    });
    const makeKey = async (scopes: string[]) =>
      (await this.accounts.createKey(id, { name: scopes.join("+"), scopes })).secret;
    [this.key, this.readKey, this.writeKey] = [
      await makeKey(["read", "write"]),
      await makeKey(["read"]),
      await makeKey(["write"]),
    ];
    const { members } = this.#network;
    this.#listeners = await Promise.all(members.map((member, index) => this.#serve(options, member, index)));
    if (members.length > 1) {
      const ports = this.#listeners.map(({ port }) => port);
      this.#balancer = await RoundRobin.open(() => ports);
    }
    watchOrigin(this.url);
  }

  #openAccounts(member: ApiMember): Accounts {
    const log = { ...testEnv().log, error: (facts: object) => void this.logLines.push({ ...facts }) };
    const env = testEnv({ newAccountMicro: 10_000_500_000 }, { clock: this.clock, log });
    return openAccounts(env, store.accounts, this.#registration, member.credentials, quickPasswords());
  }

  #serve(options: Partial<HttpOptions>, member: ApiMember, index: number): Promise<Listener> {
    const log = pino({ level: "info" }, { write: (line: string) => void this.logLines.push(JSON.parse(line)) });
    const busOf = () => this.bus;
    const credentials = member.credentials;
    const operators = apiOperators({ store, clock: this.clock, credentials, hub: () => this.hubUrl });
    const network = { overview: () => (this.overview ?? operators.network.overview)() };
    const app = createApp(
      {
        jobs: this.jobs,
        ...this.models.deps,
        batches: noBatches,
        accounts: index === 0 ? this.accounts : this.#openAccounts(member),
        quota: member.quota,
        suspensions: { onAccounts: () => undefined },
        tracing: null,
        credentials,
        catalog: this.catalog,
        cargos: openCargos(
          { clock: this.clock },
          store.catalog,
          { refresh: async () => undefined, isShipped: (slug) => this.catalog.known(slug) !== undefined },
          async () => undefined,
          () => null,
        ),
        conversations: openConversations(
          testEnv(
            { chatWaitMs: TEST_HTTP_OPTIONS.chatWaitMs },
            { clock: this.clock, log, onFatal: (error) => log.fatal({ err: error }) },
          ),
          store.conversations,
          this.jobs,
          this.catalog,
          async () => undefined,
        ),
        files: this.files,
        retention: { remove: async () => undefined },
        islands: islandService(
          this.clock,
          store,
          { liveOf: () => [], remove: () => undefined },
          { liveOf: async () => ({ islands: [], isComplete: true }), remove: async () => undefined },
          () => null,
          () => undefined,
        ),
        events: this.events,
        islandSessions: { endSessionsOf: (tokenId) => void this.endedTokens.push(tokenId) },
        operators: { ...operators, network },
        recommend: (hostId) => this.recommend(hostId),
        get bus() {
          return busOf();
        },
        store: Object.assign(this.storeState, {
          accounts: store.accounts,
          ledger: store.ledger,
          usage: store.usage,
        }),
        clock: this.clock,
        log,
        version: "1.2.3",
        modelDirectories: [this.#directory],
        downloadsDirectory: this.#directory,
        options: { ...TEST_HTTP_OPTIONS, ...options },
      },
      dialects(this.fileBatches),
    );
    return listen((request, env) => app.fetch(request, env), TEST_LISTEN);
  }
}

export { BodyReader, readToEnd } from "./body-reader.ts";

/**
 * Resolves once `holds` returns true. Checks after each tick of the event loop, and ends only at the test's own time
 * limit.
 */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
