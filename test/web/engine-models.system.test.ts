import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeIsland } from "../support/network/fake-island.ts";
import { makeIslandState } from "../support/network/frames.ts";
import { call } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { CONSOLE_FLAGS, ConsoleBrowser, signIn } from "./browser.ts";

const HOST_ID = "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f77";
const stateWith = (isBusy: boolean) => {
  const facts = { features: [], contextTokens: 4_096, parameters: "8B", quantization: "Q4_K_M", slots: isBusy ? 0 : 4 };
  return makeIslandState({ engineModels: [{ key: "engine:qwen3:8b", ...facts }] });
};

describe("the models of a host's engine in the console", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open(CONSOLE_FLAGS);
    browser = await ConsoleBrowser.open(coordinator.url);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  it("are shown live and offered by the host, approved by the operator, and marked as declared for visitors", async () => {
    const host = await coordinator.createAccount("host@example.com");
    const operator = await coordinator.createAccount("op@example.com");
    coordinator.runSql("UPDATE accounts SET role = 'operator' WHERE id = ?", operator.id);
    const first = { hostId: HOST_ID, hostName: "studio", state: stateWith(false) };
    await using island = await FakeIsland.join(coordinator.url, host.islandToken, first);

    const { page, faults } = await browser.page();
    await page.clock.install();
    await signIn(page, "host@example.com");
    await page.goto(`/islands/${HOST_ID}`);
    const row = page.getByRole("table", { name: "Models of its engine" }).getByRole("row").filter({ hasText: "qwen3" });
    await row.getByText("free", { exact: true }).waitFor();
    island.send({ type: "heartbeat", state: stateWith(true) });
    await expect
      .poll(async () => {
        await page.clock.fastForward(15_000);
        return row.getByText("busy", { exact: true }).count();
      })
      .toBe(1);
    await row.getByText("declared", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Offer this model" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Until the operator approves it, only you can use it").waitFor();
    await dialog.getByLabel("Licence").fill("Apache-2.0");
    await dialog.getByLabel("Credits per job").fill("0.05");
    await dialog.getByLabel("Slug").fill("qwen3");
    await dialog.getByRole("button", { name: "Offer" }).click();
    await dialog.getByText("must begin with declared-").first().waitFor();
    await dialog.getByLabel("Slug").fill("declared-qwen3-8b");
    await page.clock.fastForward(2_000);
    await dialog.getByRole("button", { name: "Offer" }).click();
    await row.getByRole("link", { name: "declared-qwen3-8b" }).click();
    await page.getByText("not approved yet").waitFor();
    await page.getByText("Nothing proves which model their engines run").waitFor();
    expect((await call(coordinator.url, null, "GET", "/cargos/declared-qwen3-8b")).status).toBe(404);

    const { page: review } = await browser.page();
    await signIn(review, "op@example.com");
    await review.goto("/operator/cargos/declared-qwen3-8b");
    await review.getByText("Your approval does not change that").waitFor();
    expect(await review.getByText("not pinned").count()).toBe(0);
    await review.getByRole("button", { name: "Approve", exact: true }).click();
    await review.getByRole("button", { name: "Sign and approve" }).click();
    await review.getByText("offered", { exact: true }).waitFor();

    island.send({ type: "heartbeat", state: stateWith(false) });
    const { page: visit, faults: others } = await browser.page();
    await visit.clock.install();
    await visit.goto("/");
    const card = visit.getByRole("listitem").filter({ hasText: "qwen3:8b" });
    await card.getByText("declared", { exact: true }).waitFor();
    await card.getByText("text → text · tools, JSON, JSON schemas, logprobs · 8B, Q4_K_M").waitFor();
    await expect
      .poll(
        async () => {
          await visit.clock.fastForward(15_000);
          return card.getByText("ready on 1 Island").count();
        },
        { interval: 1_000 },
      )
      .toBe(1);
    expect([...faults, ...others]).toEqual([]);
  });
});
