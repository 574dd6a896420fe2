import { expect } from "vitest";
import { MAX_HELD_SLUGS, MAX_OWNED_CARGOS } from "../../../../coordinator/store/catalog.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { type Check, MADE_AT_MS, makeAccount } from "./store-builders.ts";

const FILE = { slug: "mine", name: "Mine" };
const LATER_MS = MADE_AT_MS + 1_000;
const APPROVAL = { slug: "mine", file: { ...FILE, pinned: true }, revision: "abc", by: "root", atMs: LATER_MS };

function create(store: Store, ownerId: string, slug = "mine") {
  return store.catalog.create({ slug, ownerId, file: FILE, isEnabled: true, atMs: MADE_AT_MS });
}
const change = { file: { name: "New" }, isEnabled: true, isApproved: false, atMs: LATER_MS };

export function describeCatalog(check: Check): void {
  check("catalog.numberCargos() keeps numbers and dates, and gives new Cargos the next free number", async (store) => {
    const [b, a] = [
      { number: 1, createdAtMs: 5_000 },
      { number: 2, createdAtMs: 5_000 },
    ];
    expect([...(await store.catalog.numberCargos(["b", "a"], 5_000))]).toEqual([
      ["b", b],
      ["a", a],
    ]);
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    await store.catalog.remove("mine", ownerId, LATER_MS);
    expect([...(await store.catalog.numberCargos(["c", "a"], LATER_MS))]).toEqual([
      ["b", b],
      ["a", a],
      ["mine", { number: 3, createdAtMs: MADE_AT_MS }],
      ["c", { number: 4, createdAtMs: LATER_MS }],
    ]);
  });

  check("catalog.create() stores an unapproved Cargo that every read shows", async (store) => {
    const ownerId = await makeAccount(store);
    const created = await create(store, ownerId);
    const times = { createdAtMs: MADE_AT_MS, updatedAtMs: MADE_AT_MS };
    expect(created).toEqual({
      slug: "mine",
      ownerId,
      file: FILE,
      isEnabled: true,
      isApproved: false,
      revision: 1,
      ...times,
    });
    expect(await store.catalog.find("mine")).toEqual(created);
    const page = { limit: 20, offset: 0 };
    expect(await store.catalog.listOwned(ownerId, page)).toEqual({ cargos: [created], total: 1 });
    expect(await store.catalog.listOwned(await makeAccount(store), page)).toEqual({ cargos: [], total: 0 });
    expect(await store.catalog.snapshot()).toEqual({
      revision: 1,
      cargos: [created],
      disabledSlugs: [],
      approvals: [],
      pricesMicro: new Map(),
    });
  });

  check("catalog.create() rejects a slug of another account with slug_taken", async (store) => {
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    await expect(create(store, ownerId)).rejects.toMatchObject({ code: "slug_taken" });
    await expect(create(store, await makeAccount(store))).rejects.toMatchObject({ code: "slug_taken" });
    await store.catalog.importCargo({ slug: "ours", file: FILE, atMs: MADE_AT_MS });
    await expect(create(store, ownerId, "ours")).rejects.toMatchObject({ code: "slug_taken" });
    expect(await store.catalog.revision()).toBe(2);
  });

  check("catalog.create() lets only the owner reuse a deleted slug", async (store) => {
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    await store.catalog.approve(APPROVAL, 1);
    expect(await store.catalog.remove("mine", ownerId, LATER_MS)).toBe(true);
    expect(await store.catalog.find("mine")).toBeUndefined();
    await expect(create(store, await makeAccount(store))).rejects.toMatchObject({ code: "slug_taken" });
    expect(await create(store, ownerId)).toMatchObject({ isApproved: false, revision: 4 });
  });

  check(`catalog.create() refuses more than ${MAX_OWNED_CARGOS} Cargos, not counting deleted ones`, async (store) => {
    const ownerId = await makeAccount(store);
    const slugs = Array.from({ length: MAX_OWNED_CARGOS }, (_, index) => `cargo-${index}`);
    await Promise.all(slugs.map((slug) => create(store, ownerId, slug)));
    await expect(create(store, ownerId)).rejects.toMatchObject({ code: "too_many_cargos" });
    await store.catalog.remove("cargo-0", ownerId, LATER_MS);
    await create(store, ownerId);
  });

  check("catalog.listOwned() returns the account's own Cargos in pages, sorted by slug", async (store) => {
    const ownerId = await makeAccount(store);
    for (const slug of ["c", "a", "b", "gone"]) await create(store, ownerId, slug);
    await store.catalog.remove("gone", ownerId, LATER_MS);
    const { cargos, total } = await store.catalog.listOwned(ownerId, { limit: 2, offset: 1 });
    expect([cargos.map(({ slug }) => slug), total]).toEqual([["b", "c"], 3]);
  });

  check(
    `catalog.create() refuses more than ${MAX_HELD_SLUGS} slugs, except one that the account had`,
    async (store) => {
      const ownerId = await makeAccount(store);
      const slugs = Array.from({ length: MAX_HELD_SLUGS }, (_, index) => `cargo-${index}`);
      const takeTurns = async (from: number): Promise<void> => {
        for (const slug of slugs.filter((_, index) => index % MAX_OWNED_CARGOS === from)) {
          await create(store, ownerId, slug);
          await store.catalog.remove(slug, ownerId, LATER_MS);
        }
      };
      await Promise.all(Array.from({ length: MAX_OWNED_CARGOS }, (_, from) => takeTurns(from)));
      await expect(create(store, ownerId, "one-more")).rejects.toMatchObject({ code: "too_many_cargos" });
      expect(await create(store, ownerId, "cargo-7")).toMatchObject({ slug: "cargo-7" });
      await create(store, await makeAccount(store), "one-more");
    },
  );

  check("catalog.update() changes only the given revision", async (store) => {
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    const update = (revision: number, by = ownerId) =>
      store.catalog.update({ slug: "mine", ownerId: by, revision, ...change });
    expect(await update(1)).toBe(true);
    expect(await update(1)).toBe(false);
    expect(await update(2, await makeAccount(store))).toBe(false);
    expect(await store.catalog.find("mine")).toMatchObject({
      revision: 2,
      file: { name: "New" },
      updatedAtMs: LATER_MS,
    });
    expect(await store.catalog.revision()).toBe(2);
  });

  check("catalog.update() and approve() of one revision do not both succeed", async (store) => {
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    const both = await Promise.all([
      store.catalog.approve(APPROVAL, 1),
      store.catalog.update({ slug: "mine", ownerId, revision: 1, ...change }),
    ]);
    // SQLite runs the calls in order, and PostgreSQL runs them in either order.
    expect(both.toSorted()).toEqual([false, true]);
  });

  check("catalog.approve() stores the approved definition, and enables the Cargo", async (store) => {
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    await store.catalog.setDisabled("mine", true, MADE_AT_MS);
    expect(await store.catalog.approve(APPROVAL, 2)).toBe(false);
    expect((await store.catalog.snapshot()).approvals).toEqual([]);
    expect(await store.catalog.approve(APPROVAL, 1)).toBe(true);
    const { cargos, disabledSlugs, approvals } = await store.catalog.snapshot();
    expect(cargos).toMatchObject([{ file: APPROVAL.file, isApproved: true, revision: 2, updatedAtMs: LATER_MS }]);
    expect([disabledSlugs, approvals]).toEqual([[], [APPROVAL]]);
  });

  check("catalog.approve() of a shipped Cargo keeps the latest approval", async (store) => {
    await store.catalog.approve({ ...APPROVAL, slug: "shipped" }, null);
    await store.catalog.approve({ ...APPROVAL, slug: "shipped", by: "ada" }, null);
    const { approvals, revision } = await store.catalog.snapshot();
    expect([approvals, revision]).toEqual([[{ ...APPROVAL, slug: "shipped", by: "ada" }], 2]);
  });

  check("catalog.remove() is limited to the owner", async (store) => {
    const ownerId = await makeAccount(store);
    await create(store, ownerId);
    expect(await store.catalog.remove("mine", await makeAccount(store), LATER_MS)).toBe(false);
    expect(await store.catalog.remove("mine", ownerId, LATER_MS)).toBe(true);
    expect(await store.catalog.remove("mine", ownerId, LATER_MS)).toBe(false);
  });

  check("catalog.importCargo() stores an approved Cargo, and replaces it when repeated", async (store) => {
    const imported = await store.catalog.importCargo({ slug: "ours", file: FILE, atMs: MADE_AT_MS });
    expect(imported).toMatchObject({ ownerId: null, isApproved: true, isEnabled: true, revision: 1 });
    await store.catalog.importCargo({ slug: "ours", file: { name: "New" }, atMs: LATER_MS });
    expect(await store.catalog.find("ours")).toMatchObject({ file: { name: "New" }, revision: 2 });
    await create(store, await makeAccount(store));
    const theirs = store.catalog.importCargo({ slug: "mine", file: FILE, atMs: LATER_MS });
    await expect(theirs).rejects.toMatchObject({ code: "slug_taken" });
  });

  check(
    "catalog.setDisabled() accepts any slug, and changes the revision only when it changes something",
    async (store) => {
      await store.catalog.setDisabled("shipped", true, MADE_AT_MS);
      await store.catalog.setDisabled("shipped", true, LATER_MS);
      expect(await store.catalog.snapshot()).toEqual({
        revision: 1,
        cargos: [],
        disabledSlugs: ["shipped"],
        approvals: [],
        pricesMicro: new Map(),
      });
      await store.catalog.setDisabled("shipped", false, LATER_MS);
      expect(await store.catalog.snapshot()).toMatchObject({ revision: 2, disabledSlugs: [] });
    },
  );

  check(
    "catalog.setPrice() sets and resets a price, and changes the revision only when it changes something",
    async (store) => {
      const set = (micro: number | null) => store.catalog.setPrice("shipped", micro, MADE_AT_MS);
      expect([await set(0), await set(0), await set(4_000_000_000_000)]).toEqual([true, false, true]);
      const { revision, pricesMicro } = await store.catalog.snapshot();
      expect([revision, [...pricesMicro]]).toEqual([2, [["shipped", 4_000_000_000_000]]]);
      expect([await set(null), await set(null)]).toEqual([true, false]);
      expect(await store.catalog.snapshot()).toMatchObject({ revision: 3, pricesMicro: new Map() });
    },
  );
}
