import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { ConsoleBrowser } from "./browser.ts";

describe("the console for visitors", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open();
    browser = await ConsoleBrowser.open(coordinator.url);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  it("leads from the overview to an account and the playground, without blocked content or requests to other origins", async () => {
    const { page, faults } = await browser.page();
    await page.goto("/");
    await page.getByText("Islands (machines) online").locator("..").getByText("0").waitFor();
    await page.getByRole("heading", { name: "Tiny Islander" }).waitFor();
    await page.getByText("0.01 credits per job").first().waitFor();
    await page.getByRole("link", { name: "Open an account" }).click();
    await page.getByLabel("E-mail").fill("ann@example.com");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Open an account" }).click();
    await page.getByLabel("Model").waitFor();
    expect(await page.title()).toBe("Playground · Atoll");
    expect(faults).toEqual([]);
  });

  it("shows the API reference in dark colours if the browser prefers them", async () => {
    const { page, faults } = await browser.page({ colorScheme: "dark" });
    // Laying out the whole document takes seconds.
    await page.route("**/openapi.json", (route) => route.abort());
    await page.goto("/docs");
    await page.locator("html.dark-mode").waitFor({ state: "attached" });
    const ground = await page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
    expect(Math.max(...(ground.match(/\d+/g) ?? ["255"]).map(Number))).toBeLessThan(64);
    expect(faults).toEqual([]);
  });

  it("shows the sign-in form if the operator hides the network from visitors", async () => {
    await using hidden = await TestCoordinator.open({ publicPage: "false" });
    await using other = await ConsoleBrowser.open(hidden.url);
    const { page } = await other.page();
    await page.goto("/");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
  });
});
