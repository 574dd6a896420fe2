import { randomUUID } from "node:crypto";
import { afterEach, beforeEach } from "vitest";
import { withPins, type Pins } from "../../../coordinator/catalog/cargo-pins.ts";
import { readShippedCargos } from "../../../coordinator/catalog/load-catalog.ts";
import { auditTrail, type Actor } from "../../../coordinator/operators/audit-trail.ts";
import { operatorCargos, type OperatorCargos } from "../../../coordinator/operators/operator-cargos.ts";
import { systemClock } from "../../../shared/clock.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { COORDINATORS } from "../../support/network/several-coordinators.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { ONNX_FILE } from "./cargo-builders.ts";

const RUNTIMES = (["llmcpp", "onnx", "container"] as const).map((type) => ({ type, version: "test" }));
export const OFFERED = { workload: "some-onnx", input: { text: "Hello" } };

export const OPERATOR: Actor = { via: "command", actor: "root", origin: "localhost" };

type Account = Awaited<ReturnType<TestCoordinator["createAccount"]>>;

/** Coordinator with two accounts, created for each test. */
export let coordinator: TestCoordinator;
export let owner: Account;
export let other: Account;

/** Opens the coordinator before each test. Call it once in each test file. */
export function openForEachTest(): void {
  beforeEach(async () => {
    coordinator = await TestCoordinator.open({ publicRequestsPerMinute: 1_000_000 });
    owner = await coordinator.createAccount("owner@example.com");
    other = await coordinator.createAccount("other@example.com");
  });
  afterEach(() => coordinator[Symbol.asyncDispose]());
}

export const as = (account: { key: string } | null, method: string, path: string, body?: unknown) =>
  call(coordinator.url, account?.key ?? null, method, path, body);
export const post = (file: object = ONNX_FILE, by = owner) => as(by, "POST", "/cargos", file);
export const submit = (by = owner, body: object = OFFERED) => as(by, "POST", "/jobs", body);
export const detail = async (jobId: string, by = owner) => (await as(by, "GET", `/jobs/${jobId}`)).body.data;
export const island = (of = owner) =>
  FakeIsland.join(coordinator.url, of.islandToken, { hostId: randomUUID(), runtimes: RUNTIMES });

/** Acts in another process than the running coordinator, as `coordinator cargo` does. */
export const asOperator = <T>(act: (cargos: OperatorCargos) => Promise<T>): Promise<T> =>
  coordinator.withStore(async (store) => {
    const shipped = await readShippedCargos("catalog", { chat: "tiny-chat" });
    return act(operatorCargos(store.catalog, shipped, auditTrail(store.audit, systemClock), systemClock));
  });

/** Acts as the operator, and waits until the coordinator has noticed the change. */
export async function operate(act: (cargos: OperatorCargos) => Promise<unknown>, isNoticed: () => Promise<boolean>) {
  await asOperator(act);
  const areNoticed = async (): Promise<boolean> => {
    // Each request goes to the next of several coordinators.
    for (let asked = 0; asked < COORDINATORS; asked += 1) if (!(await isNoticed())) return false;
    return true;
  };
  await until(areNoticed, (noticed) => noticed, "the coordinators notice");
}
export const statusOf = async (path: string) => (await as(null, "GET", path)).status;
export const approve = (slug = "some-onnx", pins: Pins = {}) =>
  operate(
    async (cargos) => {
      const review = await cargos.review(slug);
      await cargos.approveReviewed(OPERATOR, review, withPins(review.file, pins));
    },
    async () => (await statusOf(`/cargos/${slug}`)) === 200,
  );
