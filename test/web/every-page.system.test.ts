import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runFrames } from "../support/network/attempt-frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { makeIslandState } from "../support/network/frames.ts";
import { call } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { CONSOLE_FLAGS, ConsoleBrowser, signIn } from "./browser.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const ENTRIES = ["/", "/sign-in", "/register", "/verify", "/forgot-password", "/reset-password"];
/** A Cargo of a declared model, which only its owner sees until it is approved. */
const CARGO = {
  slug: "declared-qwen3",
  name: "Qwen 3",
  description: "For a test",
  category: "llm",
  runtime_type: "engine",
  licence: "Apache-2.0",
  price_per_job: 0.01,
  required_ram_mb: 0,
  required_vram_mb: 0,
  model: { url: "engine:qwen3:8b", sha256: null, size_bytes: null },
  context_tokens: 4_096,
  example_input: { prompt: "Hi" },
};

describe("every console page", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  let island: FakeIsland;
  let pages: string[];
  beforeAll(async () => {
    coordinator = await TestCoordinator.open(CONSOLE_FLAGS);
    browser = await ConsoleBrowser.open(coordinator.url);
    const { id, key, islandToken } = await coordinator.createAccount("ann@example.com");
    coordinator.runSql("UPDATE accounts SET role = 'operator' WHERE id = ?", id);
    await coordinator.createAccount("new@example.com");
    const facts = { features: [], slots: 4, contextTokens: 4_096, parameters: "8B", quantization: "Q4_K_M" };
    const engineModels = [CARGO.model.url, "engine:other", "ab".repeat(32)].map((name) => ({ key: name, ...facts }));
    const state = makeIslandState({ engineModels });
    island = await FakeIsland.join(coordinator.url, islandToken, { hostName: "studio", state });
    island.handle((frame) => {
      if (frame.type === "assign") island.send(...runFrames(frame, "Hel", "lo"));
    });
    const request = async (method: string, path: string, body?: unknown) =>
      (await call(coordinator.url, key, method, path, body)).body.data;
    await request("POST", "/cargos", CARGO);
    const job = await request("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } });
    const waiting = await request("POST", "/jobs", { workload: "base64", input: { text: "Hi" } });
    const batch = await request("POST", "/jobs/batch", {
      workload: "tiny-chat",
      inputs: [{ prompt: "a" }, { prompt: "b" }],
    });
    const talk = await request("POST", "/conversations", {
      model: "tiny-chat",
      title: "Sums",
      system_prompt: "Be brief.",
    });
    await request("POST", `/conversations/${talk.id}/messages`, { content: "Hi" });
    const [{ id: islandId }] = await request("GET", "/islands");
    await mkdir(join(coordinator.directory, "downloads"));
    await writeFile(join(coordinator.directory, "downloads", "atoll-island-0.1.0.tgz"), "the agent");
    const standing = JSON.stringify({ state: "new", streak: 4, reason: null });
    coordinator.runSql("INSERT INTO standings VALUES (?, 'tiny-chat', ?, 0)", id, standing);
    coordinator.runSql(
      `INSERT INTO audits (id, owner_account_id, slug, client_account_id, ended_at_ms, charged_micro, earned_micro, earning, verdict)
       VALUES (?, ?, 'tiny-chat', ?, 0, 0, 0, 'held', 'consistent')`,
      job.id,
      id,
      id,
    );
    pages = [
      ...["/", "/playground?cargo=base64", "/jobs", `/jobs/${job.id}`, `/jobs/${waiting?.id ?? job.id}`],
      ...["/batches", `/batches/${batch.id}`, "/conversations", `/conversations/${talk.id}`],
      ...["/catalog", "/catalog/tiny-chat", "/keys", "/usage", "/account"],
      ...["/islands", `/islands/${islandId}`, "/islands/add", "/jobs/none", "/catalog/none", "/islands/none"],
      ...["/operator", "/operator/islands", "/operator/accounts", `/operator/accounts/${id}`, "/operator/jobs"],
      ...[
        "/operator/queue",
        "/operator/standings",
        "/operator/cargos?status=all",
        "/operator/cargos/tiny-chat",
        "/operator/audit",
      ],
      ...["/operator/settings", `/catalog/${CARGO.slug}`, `/operator/cargos/${CARGO.slug}`],
    ];
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await island[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  it("passes axe-core in light and dark colours", async () => {
    const { page, faults } = await browser.page({ bypassCSP: false });
    const found: unknown[] = [];
    for (const path of ENTRIES) found.push(...(await violationsAt(page, path)));
    await signIn(page, "ann@example.com");
    for (const path of pages) found.push(...(await violationsAt(page, path)));
    await page.goto("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    found.push(...(await violations(page, "new key")));
    await page.goto("/usage");
    await page.getByRole("button", { name: "tiny-chat" }).first().click();
    found.push(...(await violations(page, "what was booked for a job")));
    await page.goto("/islands/add");
    await page.getByRole("button", { name: "Create code" }).click();
    await page.getByLabel("Download the agent").waitFor();
    found.push(...(await violations(page, "the commands that add an Island")));
    await page.goto("/islands");
    await page.getByRole("link", { name: "studio" }).first().click();
    await page.getByRole("button", { name: /^Offer this model/ }).click();
    found.push(...(await violations(page, "the offer of a model")));
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("passes axe-core while empty", async () => {
    const { page } = await browser.page();
    await signIn(page, "new@example.com");
    const found: unknown[] = [];
    for (const path of ["/jobs", "/batches", "/conversations", "/keys", "/usage", "/islands"]) {
      found.push(...(await violationsAt(page, path)));
    }
    expect(found).toEqual([]);
  });

  it("fits a phone screen", async () => {
    const { page } = await browser.page(PHONE);
    const expectFit = async (path: string): Promise<void> => {
      await settle(page, path);
      const [content, screen] = await page.evaluate<number[]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      expect([path, content]).toEqual([path, screen]);
    };
    for (const path of ENTRIES) await expectFit(path);
    await signIn(page, "ann@example.com");
    for (const path of pages) await expectFit(path);
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
    expect(await page.getByRole("navigation", { name: "Pages" }).isVisible()).toBe(false);
  });

  it("can be reached and used with only the keyboard", async () => {
    const { page } = await browser.page();
    await signIn(page, "ann@example.com");
    await settle(page, "/jobs");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement?.id")).toBe("main");
    const link = page.getByRole("link", { name: "API keys" });
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    expect(await page.evaluate("document.activeElement?.id")).toBe("main");
    const opener = page.getByRole("button", { name: "New key" });
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  async function settle(page: Page, path: string): Promise<void> {
    await page.goto(path);
    await page.locator("h1").first().waitFor();
    await page
      .getByText(/^Loading/)
      .first()
      .waitFor({ state: "detached" });
  }

  async function violationsAt(page: Page, path: string): Promise<unknown[]> {
    await settle(page, path);
    return violations(page, path);
  }

  /** Checks all rules in light colours, and only contrast in dark colours, which change nothing else. */
  async function violations(page: Page, where: string): Promise<unknown[]> {
    // The debugger may run a script that the page's policy would block.
    await page.evaluate(await readFile(AXE, "utf8"));
    const found = await runAxe(page, where, {});
    await page.emulateMedia({ colorScheme: "dark" });
    found.push(...(await runAxe(page, `${where}, dark`, { runOnly: ["color-contrast"] })));
    await page.emulateMedia({ colorScheme: "light" });
    return found;
  }

  function runAxe(page: Page, where: string, options: { runOnly?: string[] }): Promise<unknown[]> {
    return page.evaluate(
      async ([place, chosen]) => {
        const { axe } = globalThis as unknown as {
          axe: {
            run(
              options: object,
            ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
          };
        };
        const { violations: list } = await axe.run(chosen);
        return list.map(({ id, nodes }) => ({
          place,
          id,
          nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]),
        }));
      },
      [where, options] as const,
    );
  }
});
