/** Numbers of Cargos: `workload_id` of the spec is stable for ever, also for a Cargo that left the catalog. */
export interface CatalogStore {
  /** Gives every slug its number, new ones the next free, and returns all of them. */
  numberCargos(slugs: readonly string[]): Promise<ReadonlyMap<string, number>>;
}
