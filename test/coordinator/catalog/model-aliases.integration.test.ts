import { expect, it } from "vitest";
import { openCatalog } from "../../../coordinator/catalog/catalog-sync.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { testEnv } from "../../support/test-env.ts";
import { smallCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { NumberingCatalogStore } from "./numbering-catalog-store.ts";

const ALIASES =
  "gpt-4o-mini=tiny-chat,llm-chat=tiny-chat,base64=tiny-chat,meta/x:free=none,gone-embed=multilingual-e5-small";

it("aliases name Cargos in chats, jobs and the list of models, and key limits apply to the Cargo", async () => {
  await using coordinator = await TestCoordinator.open({ modelAliases: ALIASES });
  const { key, islandToken } = await coordinator.createAccount("a@example.com");
  const as = (method: string, path: string, body?: unknown, by = key) => call(coordinator.url, by, method, path, body);
  const listed = async () => (await as("GET", "/models")).body.data as { id: string; alias_of: string | null }[];
  const aliases = (await listed()).filter(({ alias_of: slug }) => slug !== null);
  expect(aliases.map(({ id, alias_of: slug }) => [id, slug])).toEqual([
    ["gpt-4o-mini", "tiny-chat"],
    ["llm-chat", "tiny-chat"],
    ["gone-embed", "multilingual-e5-small"],
  ]);
  expect(aliases[0]).toMatchObject({ type: "chat", available: false, context_length: expect.any(Number) });

  const submitted = await as("POST", "/jobs", { workload: "llm-chat", input: { prompt: "Hi" } });
  const slugOf = async (id: string) => (await as("GET", `/jobs/${id}`)).body.data.workload_slug;
  expect([submitted.status, await slugOf(submitted.body.data.id)]).toEqual([201, "tiny-chat"]);
  const plain = await as("POST", "/jobs", { workload: "base64", input: { data: "Hi" } });
  expect(await slugOf(plain.body.data.id)).toBe("base64");
  const batch = await as("POST", "/jobs/batch", { workload: "gpt-4o-mini", inputs: [{ prompt: "Hi" }] });
  expect(batch.status).toBe(201);
  expect((await as("POST", "/jobs", { workload: "meta/x:free", input: {} })).status).toBe(404);

  await using island = await FakeIsland.join(coordinator.url, islandToken);
  expect((await island.next("assign")).cargo.slug).toBe("tiny-chat");
  const limited = async (cargos: string[]) =>
    (await as("POST", "/api-keys", { name: "limited", scopes: ["read", "write"], cargos })).body.key as string;
  const [chatKey, otherKey] = [await limited(["tiny-chat"]), await limited(["base64"])];
  const job = { workload: "llm-chat", input: { prompt: "Hi" } };
  expect((await as("POST", "/jobs", job, chatKey)).status).toBe(201);
  expect((await as("POST", "/jobs", job, otherKey)).body.error.code).toBe("cargo_not_allowed");
  expect((await as("GET", "/models/gpt-4o-mini", undefined, otherKey)).status).toBe(404);
  expect((await as("GET", "/models/gpt-4o-mini", undefined, chatKey)).status).toBe(200);
  await until(
    listed,
    (models) => models.some((model) => "available" in model && model.available),
    "the Island is seen",
  );
});

it("the coordinator warns at start about aliases that have no Cargo or that a Cargo's own slug hides", async () => {
  const warned: unknown[] = [];
  const log = { info: () => undefined, warn: (facts: unknown) => void warned.push(facts), error: () => undefined };
  const modelAliases = new Map([
    ["gpt", "tiny-chat"],
    ["base64", "tiny-chat"],
    ["claude", "none"],
  ]);
  const env = testEnv({ catalogDirectory: smallCatalog(), modelAliases }, { log });
  const sync = await openCatalog(env, new NumberingCatalogStore());
  sync.watch(() => undefined);
  await sync.close();
  expect(warned).toEqual([{ alias: "base64" }, { alias: "claude", cargo: "none" }]);
});
