import { doneBefore } from "./done-before.ts";
import type { Http } from "./http.ts";
import { Pages } from "./pages.ts";
import type { Cargo, CargoDetail, CargoFilter, ChangeCargo, CreateCargo, OwnedCargo } from "./schemas.ts";
import type { CallOptions } from "./settings.ts";

/** The catalog: what jobs can run. Looking at it needs no key. */
export class Cargos {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Enabled and approved Cargos, by slug. */
  async list(filter: CargoFilter = {}, options?: CallOptions): Promise<readonly Cargo[]> {
    return (await this.#http.call("get", "/cargos", { query: filter }, options)).cargos;
  }

  /** A Cargo with the JSON Schema of its input and an example. */
  async get(slug: string, options?: CallOptions): Promise<CargoDetail> {
    return (await this.#http.call("get", "/cargos/{slug}", { path: { slug } }, options)).data;
  }

  /** The caller's own, by slug, with their approval. */
  listOwn({ pageSize: limit = 20 }: { readonly pageSize?: number } = {}, options?: CallOptions): Pages<OwnedCargo> {
    const load = (offset: number) => this.#http.call("get", "/account/cargos", { query: { limit, offset } }, options);
    return new Pages(load, ({ slug }) => slug);
  }

  /** Only its owner can see and run it until the operator approves it. */
  async create(cargo: CreateCargo, options?: CallOptions): Promise<OwnedCargo> {
    return (await this.#http.call("post", "/cargos", { body: cargo }, options)).data;
  }

  /** What is left out stays. What changes what it was approved for takes the approval away. */
  async update(slug: string, change: ChangeCargo, options?: CallOptions): Promise<OwnedCargo> {
    return (await this.#http.call("patch", "/cargos/{slug}", { path: { slug }, body: change }, options)).data;
  }

  /** Waiting jobs of it fail and cost nothing. */
  async delete(slug: string, options?: CallOptions): Promise<void> {
    await doneBefore(this.#http.call("delete", "/cargos/{slug}", { path: { slug } }, options));
  }
}
