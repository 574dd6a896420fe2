import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { CatalogSync } from "../../../coordinator/catalog/catalog-sync.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { PostgresDatabase } from "../../support/postgres-database.ts";
import { eventually } from "../http/api.ts";
import { ONNX_FILE } from "./cargo-builders.ts";

const directory = fileURLToPath(new URL("../../../catalog", import.meta.url));
const database = await PostgresDatabase.open();
afterAll(() => database?.[Symbol.asyncDispose]());

it.skipIf(database === null)(
  "a Cargo that one coordinator adds is known by another a second later, with the same number",
  async () => {
    if (database === null) return;
    const stores = ["c1", "c2"].map((id) => database.store(new ManualClock(), id));
    const clock = new ManualClock();
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    // At the same time, on an empty database: they agree on the numbers.
    const syncs = await Promise.all(
      stores.map(({ catalog: store }) =>
        CatalogSync.open({ directory, store, defaultChatSlug: "tiny-chat", clock, log }),
      ),
    );
    const [here, there] = syncs as [CatalogSync, CatalogSync];
    const numbers = (sync: CatalogSync) => sync.catalog.list().map(({ slug, workloadId }) => [slug, workloadId]);
    expect(numbers(there)).toEqual(numbers(here));
    there.watch(() => undefined);
    await stores[0]?.catalog.importCargo({ slug: "some-onnx", file: ONNX_FILE, atMs: 1 });
    expect(there.catalog.find("some-onnx")).toBeUndefined();
    clock.advance(1_000);
    await eventually(() => there.catalog.find("some-onnx") !== undefined);
    await here.refresh();
    expect(numbers(there)).toEqual(numbers(here));
    await Promise.all(syncs.map((sync) => sync.close()));
    await Promise.all(stores.map((store) => store.close()));
  },
);
