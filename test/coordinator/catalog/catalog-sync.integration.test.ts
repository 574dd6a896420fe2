import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { withPins } from "../../../coordinator/catalog/cargo-pins.ts";
import { readShippedCargos } from "../../../coordinator/catalog/load-catalog.ts";
import { openCatalog, type CatalogSync } from "../../../coordinator/catalog/catalog-sync.ts";
import type { CatalogSnapshot } from "../../../coordinator/store/catalog.ts";
import { eventually } from "../http/api.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { CONTAINER_FILE, makeStored, ONNX_FILE } from "./cargo-builders.ts";
import { NumberingCatalogStore } from "./numbering-catalog-store.ts";

const SHIPPED = fileURLToPath(new URL("../../../catalog", import.meta.url));

let store: NumberingCatalogStore;
let clock: ManualClock;
let catalogSync: CatalogSync;
let changes: string[];
let warnings: object[];
beforeEach(async () => {
  [store, clock, changes, warnings] = [new NumberingCatalogStore(), new ManualClock(), [], []];
  const log = {
    info: () => undefined,
    warn: (facts: object) => void warnings.push(facts),
    error: (facts: object) => void warnings.push(facts),
  };
  catalogSync = await openCatalog(testEnv({ catalogDirectory: SHIPPED }, { clock, log }), store);
  catalogSync.watch((slug) => changes.push(slug));
});

async function put(stored: Partial<CatalogSnapshot>): Promise<void> {
  store.stored = { ...store.stored, ...stored, revision: store.stored.revision + 1 };
  for (const cargo of store.stored.cargos) await store.numberCargos([cargo.slug], 0);
}

describe("openCatalog()", () => {
  it("offers approved Cargos to all accounts, and reports changed slugs", async () => {
    await put({ cargos: [makeStored()] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.get("some-onnx")).toMatchObject({ slug: "some-onnx", isChat: false });
    expect(catalogSync.catalog.list({ category: "text" }).map(({ slug }) => slug)).toContain("some-onnx");
    expect(changes).toEqual(["some-onnx"]);
  });
  it("shows an unapproved Cargo only to its owner, but also to the scheduler", async () => {
    await put({ cargos: [makeStored({ isApproved: false })] });
    await catalogSync.refresh();
    const { catalog } = catalogSync;
    expect([catalog.find("some-onnx"), catalog.find("some-onnx", "user_2")]).toEqual([undefined, undefined]);
    expect(catalog.find("some-onnx", "user_1")?.slug).toBe("some-onnx");
    expect(catalog.known("some-onnx")?.slug).toBe("some-onnx");
    expect(catalog.list().map(({ slug }) => slug)).not.toContain("some-onnx");
  });
  it("grants a container no network before it is approved", async () => {
    const cargo = makeStored({ slug: "some-container", file: CONTAINER_FILE, isApproved: false });
    await put({ cargos: [cargo] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.known("some-container")?.container?.network).toBe(false);
    await put({ cargos: [{ ...cargo, isApproved: true, revision: 2 }] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.known("some-container")?.container?.network).toBe(true);
  });
  it("omits Cargos that their owner or the operator disabled, including shipped ones", async () => {
    await put({
      cargos: [makeStored({ isEnabled: false }), makeStored({ slug: "other", file: { ...ONNX_FILE, slug: "other" } })],
      disabledSlugs: ["other", "phi-4"],
    });
    await catalogSync.refresh();
    for (const slug of ["some-onnx", "other", "phi-4"]) expect(catalogSync.catalog.known(slug)).toBeUndefined();
    expect(changes).toEqual(["phi-4"]);
    await put({ cargos: [], disabledSlugs: [] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.find("phi-4")?.slug).toBe("phi-4");
  });
  it("offers a shipped Cargo at the price that the operator set, and reports the change once", async () => {
    const shipped = catalogSync.catalog.get("phi-4").priceMicro;
    await put({
      pricesMicro: new Map([
        ["phi-4", 7],
        ["gone", 1],
      ]),
    });
    await catalogSync.refresh();
    expect(catalogSync.catalog.get("phi-4").priceMicro).toBe(7);
    await put({});
    await catalogSync.refresh();
    await put({ pricesMicro: new Map() });
    await catalogSync.refresh();
    expect([catalogSync.catalog.get("phi-4").priceMicro, changes]).toEqual([shipped, ["phi-4", "phi-4"]]);
  });
  it("keeps the entries of unchanged Cargos, so that their schemas stay compiled", async () => {
    await put({ cargos: [makeStored()] });
    await catalogSync.refresh();
    const entry = catalogSync.catalog.get("some-onnx");
    await put({ disabledSlugs: ["phi-4"] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.get("some-onnx")).toBe(entry);
    expect(changes).toEqual(["some-onnx", "phi-4"]);
  });
  it("gives a slug to the shipped Cargo, even if an account stored another one under it", async () => {
    await put({ cargos: [makeStored({ slug: "phi-4", file: { ...ONNX_FILE, slug: "phi-4" } })] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.get("phi-4").runtimeType).toBe("llmcpp");
  });
  it("offers an unpinned Cargo as it was approved, until its file changes the program", async () => {
    const shipped = (await readShippedCargos(SHIPPED, { chat: "tiny-chat" })).find(({ slug }) => slug === "pandoc");
    if (shipped === undefined) throw new Error("pandoc is not shipped");
    expect(catalogSync.catalog.known("pandoc")).toBeUndefined();
    const digest = `sha256:${"7".repeat(64)}`;
    const file = withPins(shipped, { imageDigest: digest });
    const approval = { slug: "pandoc", file, revision: "one", by: "root", atMs: 1 };
    await put({ approvals: [approval] });
    await catalogSync.refresh();
    const entry = catalogSync.catalog.get("pandoc");
    expect([entry.container?.digest, entry.container?.network, changes]).toEqual([digest, false, ["pandoc"]]);
    await put({ disabledSlugs: ["phi-4"] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.get("pandoc")).toBe(entry);
    // The operator approved a file with a different command. This version ships a changed program, so the approval ends.
    const other = { ...file, container: { ...file.container, command: ["pandoc"] } };
    await put({ approvals: [{ ...approval, file: other, revision: "two" }] });
    await catalogSync.refresh();
    expect(catalogSync.catalog.known("pandoc")).toBeUndefined();
    expect(warnings).toMatchObject([{ cargo: "pandoc" }]);
  });
  it("disables an imported Cargo that gives a reason for having no pin, but leaves approved Cargos without pins enabled", async () => {
    const unpinned = { ...ONNX_FILE, model: { url: "hf:owner/repo", sha256: null, size_bytes: null } };
    await put({
      cargos: [
        makeStored({ slug: "old", file: { ...unpinned, slug: "old" } }),
        makeStored({ slug: "ours", ownerId: null, file: { ...unpinned, slug: "ours" } }),
        makeStored({ slug: "why", ownerId: null, file: { ...unpinned, slug: "why", unpinned_reason: "No registry" } }),
      ],
    });
    await catalogSync.refresh();
    expect(["old", "ours", "why"].map((slug) => catalogSync.catalog.find(slug)?.slug)).toEqual([
      "old",
      "ours",
      undefined,
    ]);
  });
  it("omits and reports a stored Cargo that violates a rule, and keeps the others", async () => {
    await put({ cargos: [makeStored({ slug: "bad", file: {} }), makeStored()] });
    await catalogSync.refresh();
    expect([catalogSync.catalog.known("bad"), catalogSync.catalog.known("some-onnx")?.slug]).toEqual([
      undefined,
      "some-onnx",
    ]);
    expect(warnings).toMatchObject([{ cargo: "bad" }]);
  });
  it("finds Cargos that another process stored, and reads nothing while nothing has changed", async () => {
    const { snapshots } = store;
    for (let second = 1; second <= 3; second += 1) {
      clock.advance(1_000);
      await eventually(() => clock.pendingTimers === 1);
    }
    expect(store.snapshots).toBe(snapshots);
    await put({ cargos: [makeStored()] });
    clock.advance(1_000);
    await eventually(() => changes.length === 1);
    expect(store.snapshots).toBe(snapshots + 1);
  });
  it("continues to poll after a failed read", async () => {
    const revision = store.revision.bind(store);
    store.revision = () => Promise.reject(new Error("disk"));
    clock.advance(1_000);
    await eventually(() => warnings.length === 1 && clock.pendingTimers === 1);
    store.revision = revision;
    await put({ cargos: [makeStored()] });
    clock.advance(1_000);
    await eventually(() => changes.length === 1);
  });
  it("leaves no timer after it is closed", async () => {
    await catalogSync.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a Cargo that another process created", () => {
  it("is found when it is requested, while unknown slugs cause at most five queries a second", async () => {
    const shared = await openCatalog(testEnv({ catalogDirectory: SHIPPED }, { clock }), store);
    const { catalog } = shared;
    await put({ cargos: [makeStored({ isApproved: false })] });
    const revision = vi.spyOn(store, "revision");
    expect(await Promise.all([catalog.seek("some-onnx", "user_1"), catalog.seek("nonsense")])).toMatchObject([
      { slug: "some-onnx" },
      undefined,
    ]);
    expect(await catalog.seek("some-onnx", "user_2")).toBeUndefined();
    expect(revision).toHaveBeenCalledTimes(1);
    clock.advance(200);
    await Promise.all(["a", "b", "c"].map((slug) => catalog.seek(slug)));
    expect(revision).toHaveBeenCalledTimes(2);
    await shared.close();
  });
});
