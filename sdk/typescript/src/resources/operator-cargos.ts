import type { Http } from "../http.ts";
import { Pages } from "../pages.ts";
import type { ApproveCargo, CargoPins, CargoReview, KnownCargo, KnownCargoFilter } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** All Cargos, and their approval. */
export class OperatorCargos {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** By slug. `status: "waiting"`: those that wait for an approval. */
  list({ pageSize: limit = 100, status }: KnownCargoFilter = {}, options?: CallOptions): Pages<KnownCargo> {
    const load = (offset: number) =>
      this.#http.call("get", "/operator/cargos", { query: { limit, offset, status } }, options);
    return new Pages(load, ({ slug }) => slug);
  }

  /** Everything that an approval would sign, as it is now. */
  async get(slug: string, options?: CallOptions): Promise<CargoReview> {
    return (await this.#http.call("get", "/operator/cargos/{slug}", { path: { slug } }, options)).data;
  }

  /** The same with the pin that an approval needs, looked up unless it is given. Changes nothing. */
  async review(slug: string, pins: CargoPins = {}, options?: CallOptions): Promise<CargoReview> {
    const parts = { path: { slug }, body: pins };
    return (await this.#http.call("post", "/operator/cargos/{slug}/review", parts, options)).data;
  }

  /** Signs exactly the revision and pin of a review. */
  async approve(slug: string, approval: ApproveCargo, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/operator/cargos/{slug}/approval", { path: { slug }, body: approval }, options);
  }

  /** Sets what a job of a shipped Cargo costs, in credits; null: the shipped price again. Jobs keep the price of their submission. */
  async setPrice(slug: string, pricePerJob: number | null, options?: CallOptions): Promise<CargoReview> {
    const parts = { path: { slug }, body: { price_per_job: pricePerJob } };
    return (await this.#http.call("patch", "/operator/cargos/{slug}", parts, options)).data;
  }

  /** Switches it off for everybody. */
  async disable(slug: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/operator/cargos/{slug}/disabled", { path: { slug } }, options);
  }

  async enable(slug: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/operator/cargos/{slug}/disabled", { path: { slug } }, options);
  }
}
