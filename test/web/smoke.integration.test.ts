import { expect, it } from "vitest";
import { TestCoordinator } from "../support/test-coordinator.ts";
import { ConsoleBrowser, HAS_BROWSER, register } from "./browser.ts";

it.runIf(HAS_BROWSER)(
  "a new account sees the playground, and nothing is refused or asked of anybody else",
  async () => {
    await using coordinator = await TestCoordinator.open();
    await using browser = await ConsoleBrowser.open(coordinator.url);
    const { page, faults } = await browser.page();
    await register(page, "ann@example.com");
    await page.getByLabel("Model").waitFor();
    expect(await page.title()).toBe("Playground · Atoll");
    expect(faults).toEqual([]);
  },
);
