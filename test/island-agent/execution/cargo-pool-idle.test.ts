import { afterEach, beforeEach, expect, it } from "vitest";
import type { CargoLease } from "../../../island-agent/execution/cargo-pool.ts";
import type { RuntimeType } from "../../../shared/cargo.ts";
import { settle } from "../../support/event-log.ts";
import { makeManifest, NEVER } from "../builders.ts";
import { PoolWorld } from "./pool-world.ts";

const MINUTE_MS = 60_000;

let world: PoolWorld;
beforeEach(() => {
  world = new PoolWorld();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
  expect(world.clock.pendingTimers, "timers left").toBe(0);
});

const acquire = (runtimeType: RuntimeType, slug: string): Promise<CargoLease> =>
  world.pool.acquire(makeManifest({ slug, runtimeType, requiredRamBytes: 5 }), NEVER);

async function pass(ms: number): Promise<void> {
  world.clock.advance(ms);
  await settle();
}

it("CargoPool unloads a wasm Cargo after an idle minute, and loads it again for the next job", async () => {
  (await acquire("wasm", "slugs")).release();
  await pass(MINUTE_MS - 1);
  expect(world.slugs()).toEqual(["slugs"]);
  await pass(1);
  expect(world.slugs()).toEqual([]);
  expect(world.runtime.events.count("dispose slugs")).toBe(1);
  (await acquire("wasm", "slugs")).release();
  expect(world.runtime.events.count("load slugs")).toBe(2);
});

it("CargoPool restarts the idle minute after each job, and keeps a Cargo that a longer job uses", async () => {
  (await acquire("wasm", "slugs")).release();
  await pass(MINUTE_MS - 1);
  const [first, second] = [await acquire("wasm", "slugs"), await acquire("wasm", "slugs")];
  await pass(2 * MINUTE_MS);
  first.release();
  await pass(2 * MINUTE_MS);
  expect(world.slugs()).toEqual(["slugs"]);
  second.release();
  await pass(MINUTE_MS - 1);
  expect(world.slugs()).toEqual(["slugs"]);
  await pass(1);
  expect(world.slugs()).toEqual([]);
});

it("CargoPool keeps an idle llmcpp Cargo", async () => {
  (await acquire("llmcpp", "chat")).release();
  await pass(60 * MINUTE_MS);
  expect(world.slugs()).toEqual(["chat"]);
});

it("CargoPool follows the keep-alive time of the Cargo's definition with any runtime", async () => {
  const keep = async (slug: string, runtimeType: RuntimeType, keepAliveMs: number): Promise<void> => {
    const lease = await world.pool.acquire(
      makeManifest({ slug, runtimeType, requiredRamBytes: 5, keepAliveMs }),
      NEVER,
    );
    lease.release();
  };
  await keep("chat", "llmcpp", 5_000);
  await keep("slugs", "wasm", 2 * MINUTE_MS);
  await pass(4_999);
  expect(world.slugs()).toEqual(["chat", "slugs"]);
  await pass(1);
  expect(world.slugs()).toEqual(["slugs"]);
  await pass(2 * MINUTE_MS - 5_001);
  expect(world.slugs()).toEqual(["slugs"]);
  await pass(1);
  expect(world.slugs()).toEqual([]);
});

it("CargoPool unloads a Cargo with a keep-alive time of 0 after its last job", async () => {
  const manifest = makeManifest({ slug: "chat", requiredRamBytes: 5, keepAliveMs: 0 });
  const [first, second] = [await world.pool.acquire(manifest, NEVER), await world.pool.acquire(manifest, NEVER)];
  first.release();
  await settle();
  expect(world.slugs()).toEqual(["chat"]);
  second.release();
  await settle();
  expect(world.slugs()).toEqual([]);
});

it("CargoPool unloads an idle Cargo before its keep-alive time ends when another needs the memory", async () => {
  const manifest = makeManifest({ slug: "kept", requiredRamBytes: 15, keepAliveMs: 60 * MINUTE_MS });
  (await world.pool.acquire(manifest, NEVER)).release();
  (await world.acquire("other", 15)).release();
  expect(world.slugs()).toEqual(["other"]);
});
