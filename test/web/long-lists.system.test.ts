import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { ConsoleBrowser, signIn } from "./browser.ts";

const ROWS = 10_000;
const at = "2026-01-31T12:00:00.000Z";
const rowAt = (index: number) => ({
  id: `job_${String(index).padStart(6, "0")}`,
  status: "completed",
  workload_slug: "tiny-chat",
  batch_id: null,
  created_at: at,
  completed_at: at,
});

describe("a console list of 10,000 rows", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open();
    browser = await ConsoleBrowser.open(coordinator.url);
    await coordinator.createAccount("ann@example.com");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  it("renders only a screenful of rows at any position, and reads only the visible pages", async () => {
    const { page } = await browser.page({ viewport: { width: 1_280, height: 800 } });
    const read: number[] = [];
    await page.route("**/api/v1/jobs?*", (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get("offset"));
      read.push(offset);
      const data = Array.from({ length: Math.min(100, ROWS - offset) }, (_, index) => rowAt(offset + index));
      return route.fulfill({ json: { data, meta: { total: ROWS, limit: 100, offset } } });
    });
    await signIn(page, "ann@example.com");
    await page.goto("/jobs");
    await page.getByText("job_000000").waitFor();
    expect(await page.getByRole("table").getAttribute("aria-rowcount")).toBe(String(ROWS + 1));
    const scroller = page.getByRole("rowgroup");
    // Drags the scroll bar in one step per frame. Pages passed on the way must not be read.
    const mostRows = await scroller.evaluate(async (element) => {
      let most = 0;
      for (let step = 1; step <= 50; step += 1) {
        element.scrollTop = (element.scrollHeight * step) / 50;
        await new Promise((resolve) => element.ownerDocument.defaultView?.requestAnimationFrame(resolve));
        most = Math.max(most, element.querySelectorAll("[role=row], tr").length);
      }
      return most;
    });
    expect(mostRows).toBeGreaterThan(10);
    expect(mostRows).toBeLessThan(80);
    await page.getByText("job_009999").waitFor();
    expect(read).toContain(9_900);
    expect(new Set(read).size).toBeLessThan(60);
    await scroller.evaluate((element) => (element.scrollTop = 0));
    await page.getByText("job_000000").waitFor();
  });
});
