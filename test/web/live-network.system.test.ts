import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { freePort } from "../support/free-port.ts";
import { ConsoleBrowser, signIn } from "./browser.ts";

const EMAIL = "op@example.com";

describe("the operator pages of the console", () => {
  let network: Network;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    network = await Network.open(["--port", String(await freePort())]);
    browser = await ConsoleBrowser.open(network.url);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  it("show changes of the network and the balance live, without polling", async () => {
    const { key } = network.createAccount(EMAIL);
    await network.manage("account", "role", "--email", EMAIL, "--operator");
    const { page, faults } = await browser.page();
    await signIn(page, EMAIL);
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname + new URL(request.url()).search));
    const count = (path: string): number => requested.filter((each) => each.startsWith(`/api/v1${path}`)).length;
    await page.getByRole("link", { name: "Network", exact: true }).click();
    const waiting = page.getByText("Jobs waiting", { exact: true }).locator("..");
    await waiting.getByText("0", { exact: true }).waitFor();
    await expect.poll(() => count("/events?scope=network")).toBe(1);
    await call(network.url, key, "POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } });
    await waiting.getByText("1", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Queue", exact: true }).first().click();
    await page.getByRole("link", { name: "tiny-chat" }).waitFor();
    const before = requested.length;
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    // Nothing has changed in this time.
    expect(requested.slice(before)).toEqual([]);
    // The list is read when the page opens, and when the stream with the overview has started.
    expect([count("/operator/overview"), count("/events?scope=network")]).toEqual([2, 1]);

    const shown = await page.locator(".balance").innerText();
    await network.manage("credits", "grant", "--email", EMAIL, "--credits", "123");
    await expect.poll(() => page.locator(".balance").innerText()).not.toBe(shown);
    await network.manage("account", "role", "--email", EMAIL, "--user");
    await page.getByText("Page not found").waitFor();
    expect(await page.getByRole("link", { name: "Queue", exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
