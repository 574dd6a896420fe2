import { deleteOnce } from "../delete-once.ts";
import type { Http } from "../http.ts";
import { Pages } from "../pages.ts";
import type {
  Availability,
  Cargo,
  CargoDetail,
  CargoFilter,
  ChangeCargo,
  CreateCargo,
  OwnedCargo,
} from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/** The catalog of Cargos that jobs can run. Reading it needs no key. */
export class Cargos {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Enabled and approved Cargos, by slug. */
  async list(filter: CargoFilter = {}, options?: CallOptions): Promise<readonly Cargo[]> {
    return (await this.#http.call("get", "/cargos", { query: filter }, options)).cargos;
  }

  /** Which Cargos Islands can run now. Those that none can are left out. */
  availability(options?: CallOptions): Promise<Availability> {
    return this.#http.call("get", "/availability", {}, options);
  }

  /** A Cargo with the JSON Schema of its input and an example. */
  async get(slug: string, options?: CallOptions): Promise<CargoDetail> {
    return (await this.#http.call("get", "/cargos/{slug}", { path: { slug } }, options)).data;
  }

  /** The caller's own Cargos, by slug, with their approval. */
  listOwn({ pageSize: limit = 20 }: { readonly pageSize?: number } = {}, options?: CallOptions): Pages<OwnedCargo> {
    const load = (offset: number) => this.#http.call("get", "/account/cargos", { query: { limit, offset } }, options);
    return new Pages(load, ({ slug }) => slug);
  }

  /** Creates a Cargo, which only its owner can see and run until the operator approves it. */
  async create(cargo: CreateCargo, options?: CallOptions): Promise<OwnedCargo> {
    return (await this.#http.call("post", "/cargos", { body: cargo }, options)).data;
  }

  /** Changes the given fields. A change of what was approved removes the approval. */
  async update(slug: string, change: ChangeCargo, options?: CallOptions): Promise<OwnedCargo> {
    return (await this.#http.call("patch", "/cargos/{slug}", { path: { slug }, body: change }, options)).data;
  }

  /** Deletes a Cargo; its waiting jobs fail and cost nothing. */
  async delete(slug: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/cargos/{slug}", { path: { slug } }, options));
  }
}
