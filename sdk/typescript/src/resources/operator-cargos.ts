import type { Http } from "../http.ts";
import { Pages } from "../pages.ts";
import type {
  AddedModel,
  AddModel,
  ApproveCargo,
  CargoPins,
  CargoReview,
  KnownCargo,
  KnownCargoFilter,
} from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** All Cargos and their approval, for operators. */
export class OperatorCargos {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists Cargos, sorted by slug. `status: "waiting"`: only Cargos that wait for approval. */
  list({ pageSize: limit = 100, status }: KnownCargoFilter = {}, options?: CallOptions): Pages<KnownCargo> {
    const load = (offset: number) =>
      this.#http.call("get", "/operator/cargos", { query: { limit, offset, status } }, options);
    return new Pages(load, ({ slug }) => slug);
  }

  /** Adds a GGUF model of the hub or of Ollama's library for all accounts. `dry_run: true` only previews it. */
  async add(model: AddModel, options?: CallOptions): Promise<AddedModel> {
    return (await this.#http.call("post", "/operator/cargos", { body: model }, options)).data;
  }

  /** Returns everything that an approval would sign. */
  async get(slug: string, options?: CallOptions): Promise<CargoReview> {
    return (await this.#http.call("get", "/operator/cargos/{slug}", { path: { slug } }, options)).data;
  }

  /**
   * Returns everything that an approval would sign, with its pin: the given pin, or the pin that a lookup returns. Does
   * not change anything.
   */
  async review(slug: string, pins: CargoPins = {}, options?: CallOptions): Promise<CargoReview> {
    const parts = { path: { slug }, body: pins };
    return (await this.#http.call("post", "/operator/cargos/{slug}/review", parts, options)).data;
  }

  /** Approves a Cargo by signing exactly the revision and pin of a review. */
  async approve(slug: string, approval: ApproveCargo, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/operator/cargos/{slug}/approval", { path: { slug }, body: approval }, options);
  }

  /**
   * Sets the price per job of a shipped Cargo, in credits; null restores the shipped price. Jobs keep the price that
   * applied when they were submitted.
   */
  async setPrice(slug: string, pricePerJob: number | null, options?: CallOptions): Promise<CargoReview> {
    const parts = { path: { slug }, body: { price_per_job: pricePerJob } };
    return (await this.#http.call("patch", "/operator/cargos/{slug}", parts, options)).data;
  }

  /** Disables a Cargo for all accounts. */
  async disable(slug: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/operator/cargos/{slug}/disabled", { path: { slug } }, options);
  }

  async enable(slug: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/operator/cargos/{slug}/disabled", { path: { slug } }, options);
  }
}
