import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginFrames, finishedFrame, outputFrame } from "../support/network/attempt-frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { CONSOLE_FLAGS, ConsoleBrowser, register, signIn } from "./browser.ts";

const DAY_MS = 86_400_000;
const NAME = "مرحبا 🏝️ 'שלום' ".repeat(3).trim();
const PASSWORD = "correct horse";

describe("the console under misuse and faults", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  let island: FakeIsland;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open(CONSOLE_FLAGS);
    browser = await ConsoleBrowser.open(coordinator.url);
    island = await FakeIsland.join(coordinator.url, (await coordinator.createAccount("host@example.com")).islandToken);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await island[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  /** Counts POST requests by the end of their path. */
  function countPosts(page: Page): (path: string) => number {
    const paths: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") paths.push(new URL(request.url()).pathname);
    });
    return (path) => paths.filter((each) => each.endsWith(path)).length;
  }

  it("runs an action once for a double click, and shows a new secret until the dialog is closed", async () => {
    const { key } = await coordinator.createAccount("twice@example.com", 100);
    const { page } = await browser.page();
    await signIn(page, "twice@example.com");
    const posts = countPosts(page);
    await page.goto("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel(/^Name/).fill(NAME);
    await page.getByRole("button", { name: "Create key" }).dblclick();
    await page.getByLabel("API key", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: NAME, exact: true }).waitFor();
    expect(posts("/api-keys")).toBe(1);

    await page.goto("/islands/add");
    await page.getByRole("button", { name: "New token" }).dblclick();
    await page.getByLabel("Island token", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    expect(posts("/island-tokens")).toBe(1);

    await page.goto("/catalog/base64");
    await page.getByRole("button", { name: "Run" }).dblclick();
    await page.getByText("Waiting in the queue.").waitFor();
    expect(posts("/jobs")).toBe(1);
    expect((await call(coordinator.url, key, "GET", "/jobs")).body.meta.total).toBe(1);
  });

  it("restores the focus when a dialog closes, and keeps a mandatory dialog open", async () => {
    await coordinator.createAccount("focus@example.com");
    const { page } = await browser.page();
    await signIn(page, "focus@example.com");
    await page.goto("/keys");
    const opener = page.getByRole("button", { name: "New key" });
    await opener.click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => opener.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);

    const email = "focus@example.com";
    const { body } = await call(coordinator.url, null, "POST", "/auth/login", { email, password: PASSWORD });
    await call(coordinator.url, body.data.token, "POST", "/account/password", {
      current: PASSWORD,
      new: "other horse",
    });
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    for (let time = 0; time < 3; time += 1) await page.keyboard.press("Escape");
    await page.waitForTimeout(100);
    expect(await dialog.isVisible()).toBe(true);
    // The keyboard cannot reach elements behind the dialog.
    for (let time = 0; time < 8; time += 1) {
      await page.keyboard.press("Tab");
      const isBehind = await page.evaluate("document.activeElement?.closest('main, nav') !== null");
      expect(isBehind).toBe(await page.evaluate("document.activeElement?.closest('dialog') !== null"));
    }
  });

  it("shows the same account in all tabs", async () => {
    await coordinator.createAccount("one@example.com");
    await coordinator.createAccount("two@example.com");
    const { page } = await browser.page();
    await signIn(page, "one@example.com");
    const other = await page.context().newPage();
    await other.goto("/keys");
    await other.getByText("one@example.com").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(page, "two@example.com");
    await other.getByText("two@example.com").waitFor();
  });

  it("opens the requested page after the sign-in, and supports the back button", async () => {
    await coordinator.createAccount("deep@example.com");
    const { page } = await browser.page();
    await page.goto("/jobs?show=Failed");
    await page.getByLabel("E-mail").fill("deep@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Failed", pressed: true }).waitFor();
    await page.getByRole("link", { name: "Batches" }).click();
    await page.getByRole("heading", { level: 1, name: "Batches" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Failed", pressed: true }).waitFor();
  });

  it.each([-DAY_MS, DAY_MS])("shows correct times if the browser's clock is off by %d ms", async (wrongMs) => {
    const email = `clock${wrongMs}@example.com`;
    await coordinator.createAccount(email);
    const { page } = await browser.page();
    await page.clock.install({ time: Date.now() + wrongMs });
    await signIn(page, email);
    await page.goto("/islands/add");
    await page.getByRole("button", { name: "Create code" }).click();
    await page.getByText(/^Can be used once\. Expires in (10:00|9:)/).waitFor();
    await page.goto("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: "just now" }).first().waitFor();
  });

  it("lays out a long completion once", async () => {
    const { page } = await browser.page();
    await register(page, "long@example.com");
    await page.getByLabel("Model").selectOption("tiny-chat");
    await page.getByLabel("Max tokens").fill("4096");
    await page.getByLabel("Prompt", { exact: true }).fill("Write a book");
    await page.keyboard.press("Enter");
    const job = await island.next("assign");
    const line = `${"word ".repeat(19)}end\n`;
    island.send(...beginFrames(job), outputFrame(job, 1, line.repeat(200)));
    const pieces = page.locator(".turn.assistant .output > div");
    await expect.poll(() => pieces.count()).toBeGreaterThan(1);
    await page.evaluate(`globalThis.changes = 0; globalThis.watch = new MutationObserver((all) => (changes += all.length));
      watch.observe(document.querySelector(".turn.assistant .output > div"), { subtree: true, characterData: true, childList: true })`);
    // The text contains 80,000 words.
    for (let seq = 2; seq < 42; seq += 1) island.send(outputFrame(job, seq, line.repeat(100)));
    await expect.poll(() => pieces.count(), { timeout: 20_000 }).toBeGreaterThan(45);
    expect(await page.evaluate("globalThis.changes")).toBe(0);
    island.send(outputFrame(job, 42, "The end."), finishedFrame(job, 43, { completionTokens: 42 }));
    // The page shows only a part of the text. The user can download the rest.
    await page.getByRole("button", { name: "Download the whole text" }).waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });

  it("shows what failed to load, and loads it on a retry", async () => {
    await coordinator.createAccount("five@example.com");
    const { page } = await browser.page();
    await signIn(page, "five@example.com");
    const paths = ["/jobs", "/batches", "/conversations", "/catalog", "/keys", "/usage", "/islands"];
    const broken = { status: 500, json: { error: { code: "internal", message: "Internal error" } } };
    for (const path of paths) {
      await page.route("**/api/v1/{jobs,conversations,cargos,api-keys,account/**,islands}**", (route) =>
        route.fulfill(broken),
      );
      await page.evaluate(`history.pushState(null, "", "${path}"); dispatchEvent(new PopStateEvent("popstate"))`);
      const again = page.getByRole("button", { name: "Try again" });
      await again.first().waitFor();
      await page.unrouteAll();
      // The button disappears once its part has loaded.
      while ((await again.count()) > 0)
        await again
          .first()
          .click({ timeout: 500 })
          .catch(() => undefined);
    }
  });

  it("shows progress on a slow network, and sends once", async () => {
    await coordinator.createAccount("slow@example.com");
    const { page } = await browser.page();
    await signIn(page, "slow@example.com");
    const posts = countPosts(page);
    await page.route("**/api/v1/**", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      await route.continue();
    });
    await page.getByRole("link", { name: "Conversations" }).click();
    await page.getByText("Loading the conversations…").waitFor();
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByLabel("Title").fill("Slow");
    const begin = page.getByRole("button", { name: "Create" });
    await begin.click();
    expect(await begin.isDisabled()).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Slow" }).waitFor();
    expect(posts("/conversations")).toBe(1);
  });
});
