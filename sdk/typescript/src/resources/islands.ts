import { deleteOnce } from "../delete-once.ts";
import type { Http } from "../http.ts";
import { Pages } from "../pages.ts";
import type { Island, IslandDetail, IslandFilter } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** Islands of the caller's account. */
export class Islands {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists Islands: the connected Islands first, then the others by the time at which they were last seen. */
  list({ pageSize: limit = 100, status }: IslandFilter = {}, options?: CallOptions): Pages<Island> {
    const load = (offset: number) => this.#http.call("get", "/islands", { query: { limit, offset, status } }, options);
    return new Pages(load, ({ id }) => id);
  }

  async get(id: string, options?: CallOptions): Promise<IslandDetail> {
    return (await this.#http.call("get", "/islands/{id}", { path: { id } }, options)).data;
  }

  /** Renames an Island. An empty name restores the default. */
  async rename(id: string, name: string, options?: CallOptions): Promise<IslandDetail> {
    return (await this.#http.call("patch", "/islands/{id}", { path: { id }, body: { name } }, options)).data;
  }

  /**
   * Removes and disconnects an Island. To join again, the Island needs a token or pairing code that was created later.
   */
  async remove(id: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/islands/{id}", { path: { id } }, options));
  }
}
