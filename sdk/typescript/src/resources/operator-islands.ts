import type { Http } from "../http.ts";
import { Pages } from "../pages.ts";
import type { KnownIsland, KnownIslandDetail, KnownIslandFilter } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** Islands of all accounts, for operators. */
export class OperatorIslands {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists Islands, the most recently seen first. */
  list({ pageSize: limit = 100, ...filter }: KnownIslandFilter = {}, options?: CallOptions): Pages<KnownIsland> {
    const load = (offset: number) =>
      this.#http.call("get", "/operator/islands", { query: { ...filter, limit, offset } }, options);
    return new Pages(load, ({ id }) => id);
  }

  async get(id: string, options?: CallOptions): Promise<KnownIslandDetail> {
    return (await this.#http.call("get", "/operator/islands/{id}", { path: { id } }, options)).data;
  }

  /** Suspends an Island. Its jobs go to other Islands at once. The owner sees the reason. */
  async suspend(id: string, reason: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/operator/islands/{id}/suspension", { path: { id }, body: { reason } }, options);
  }

  /** Audits the latest jobs of an Island again. Resolves with the ids of the jobs. */
  async audit(id: string, options?: CallOptions): Promise<readonly string[]> {
    return (await this.#http.call("post", "/operator/islands/{id}/audit", { path: { id } }, options)).data.jobs;
  }

  async reinstate(id: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/operator/islands/{id}/suspension", { path: { id } }, options);
  }
}
