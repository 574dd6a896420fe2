import { streamEvents, type EventOptions, type ToldEvent } from "./resources/account-events.ts";
import { AccountResource } from "./resources/account.ts";
import { ApiKeys } from "./resources/api-keys.ts";
import { AudioResource } from "./resources/audio.ts";
import { Auth } from "./resources/auth.ts";
import { Batches } from "./resources/batches.ts";
import { Cargos } from "./resources/cargos.ts";
import { Chat } from "./resources/chat.ts";
import { Conversations } from "./resources/conversations.ts";
import { EmbeddingsResource } from "./resources/embeddings.ts";
import { FileBatches } from "./resources/file-batches.ts";
import { Files } from "./resources/files.ts";
import { Http } from "./http.ts";
import { ImagesResource } from "./resources/images.ts";
import { IslandTokens } from "./resources/island-tokens.ts";
import { Islands } from "./resources/islands.ts";
import { Jobs } from "./resources/jobs.ts";
import { Models } from "./resources/models.ts";
import { Moderations } from "./resources/moderations.ts";
import { Operator } from "./resources/operator.ts";
import type { Announcement, Downloads, Health, Network } from "./schemas.ts";
import { Sessions } from "./resources/sessions.ts";
import { resolveSettings, type AtollOptions, type CallOptions } from "./settings.ts";

/** A client of one coordinator. It does not need to be closed, because it keeps no connections open. */
export class Atoll {
  readonly account: AccountResource;
  readonly apiKeys: ApiKeys;
  readonly audio: AudioResource;
  readonly auth: Auth;
  readonly batches: Batches;
  readonly cargos: Cargos;
  readonly chat: Chat;
  readonly conversations: Conversations;
  readonly embeddings: EmbeddingsResource;
  readonly fileBatches: FileBatches;
  readonly files: Files;
  readonly images: ImagesResource;
  readonly islandTokens: IslandTokens;
  readonly islands: Islands;
  readonly jobs: Jobs;
  readonly models: Models;
  readonly moderations: Moderations;
  readonly operator: Operator;
  readonly sessions: Sessions;
  readonly #http: Http;

  /** @throws {ConfigurationError} without an address: pass `baseUrl` or set ATOLL_BASE_URL. */
  constructor(options: AtollOptions = {}) {
    const http = new Http(resolveSettings(options));
    this.#http = http;
    this.account = new AccountResource(http);
    this.apiKeys = new ApiKeys(http);
    this.audio = new AudioResource(http);
    this.auth = new Auth(http);
    this.batches = new Batches(http);
    this.cargos = new Cargos(http);
    this.chat = new Chat(http);
    this.conversations = new Conversations(http);
    this.embeddings = new EmbeddingsResource(http);
    this.fileBatches = new FileBatches(http);
    this.files = new Files(http);
    this.images = new ImagesResource(http);
    this.islandTokens = new IslandTokens(http);
    this.islands = new Islands(http);
    this.jobs = new Jobs(http);
    this.models = new Models(http);
    this.moderations = new Moderations(http);
    this.sessions = new Sessions(http);
    this.operator = new Operator(http);
  }

  /** Lists the operators' announcements, newest first. */
  async announcements(options?: CallOptions): Promise<readonly Announcement[]> {
    return (await this.#http.call("get", "/announcements", {}, options)).data;
  }

  /** Lists the packages that the coordinator serves to hosts and clients, newest version first. */
  async downloads(options?: CallOptions): Promise<Downloads> {
    return (await this.#http.call("get", "/downloads", {}, options)).data;
  }

  /**
   * Streams changes of the account: jobs, Islands, the balance. Each connection, including a reconnect, begins with `reset`; see
   * {@link ToldEvent}.
   */
  events(options: EventOptions = {}): AsyncGenerator<ToldEvent, void, undefined> {
    return streamEvents(this.#http, options);
  }

  /** Returns the health of the coordinator, even if it is degraded. */
  health(options?: CallOptions): Promise<Health> {
    return this.#http.call("get", "/health", {}, options, { acceptedStatus: 503 });
  }

  /** Returns the public facts of the network. @throws {NotFoundError} if the operator hides them from visitors. */
  async network(options?: CallOptions): Promise<Network> {
    return (await this.#http.call("get", "/network", {}, options)).data;
  }
}
