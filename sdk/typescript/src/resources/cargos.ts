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

/** Catalog of Cargos that jobs can run. Reading it does not require an API key. */
export class Cargos {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists enabled and approved Cargos, sorted by slug. */
  async list(filter: CargoFilter = {}, options?: CallOptions): Promise<readonly Cargo[]> {
    return (await this.#http.call("get", "/cargos", { query: filter }, options)).cargos;
  }

  /** Returns the Cargos that Islands can run now. All other Cargos are left out. */
  availability(options?: CallOptions): Promise<Availability> {
    return this.#http.call("get", "/availability", {}, options);
  }

  /** Returns a Cargo with the JSON Schema of its input and an example. */
  async get(slug: string, options?: CallOptions): Promise<CargoDetail> {
    return (await this.#http.call("get", "/cargos/{slug}", { path: { slug } }, options)).data;
  }

  /** Lists the caller's Cargos with their approval, sorted by slug. */
  listOwn({ pageSize: limit = 20 }: { readonly pageSize?: number } = {}, options?: CallOptions): Pages<OwnedCargo> {
    const load = (offset: number) => this.#http.call("get", "/account/cargos", { query: { limit, offset } }, options);
    return new Pages(load, ({ slug }) => slug);
  }

  /** Creates a Cargo, which only its owner can see and run until the operator approves it. */
  async create(cargo: CreateCargo, options?: CallOptions): Promise<OwnedCargo> {
    return (await this.#http.call("post", "/cargos", { body: cargo }, options)).data;
  }

  /** Changes the given fields. Changing approved fields removes the approval. */
  async update(slug: string, change: ChangeCargo, options?: CallOptions): Promise<OwnedCargo> {
    return (await this.#http.call("patch", "/cargos/{slug}", { path: { slug }, body: change }, options)).data;
  }

  /** Deletes a Cargo. Its waiting jobs fail at no cost. */
  async delete(slug: string, options?: CallOptions): Promise<void> {
    await deleteOnce(this.#http.call("delete", "/cargos/{slug}", { path: { slug } }, options));
  }
}
