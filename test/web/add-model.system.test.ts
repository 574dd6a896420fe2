import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Network } from "../support/network/network.ts";
import { HubServer } from "../support/servers/hub-server.ts";
import { makeTinyGguf } from "../support/models/tiny-gguf.ts";
import { ConsoleBrowser, signIn } from "./browser.ts";

describe("the console's dialog for adding a model", () => {
  let hub: HubServer;
  let network: Network;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    hub = await HubServer.start();
    hub.hasCdn = false;
    hub.put("maker/words-GGUF", { "words-Q8_0.gguf": makeTinyGguf() }, { licence: "mit" });
    network = await Network.open([], { ATOLL_HUB_URL: hub.url });
    browser = await ConsoleBrowser.open(network.url);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
    await hub[Symbol.asyncDispose]();
  });

  it("shows errors at their field, previews the model, and adds what it shows", async () => {
    network.createAccount("op@example.com");
    await network.manage("account", "role", "--email", "op@example.com", "--operator");
    const { page, faults } = await browser.page();
    await signIn(page, "op@example.com");
    await page.goto("/operator/cargos?status=all");
    await page.getByRole("button", { name: "Add a model" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("Enter a model").waitFor();
    await dialog.getByLabel("Model").fill("hf.co/maker/words-GGUF:Q2_K");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("hf.co/maker/words-GGUF has no file for Q2_K. It has Q8_0").waitFor();
    await dialog.getByLabel("Model").fill("hf.co/maker/words-GGUF");
    await dialog.getByLabel("Credits per job").fill("0.5");
    await dialog.getByRole("button", { name: "Preview" }).click();
    const preview = await dialog.getByLabel("Preview", { exact: true }).last().innerText();
    for (const text of ["words", "llama", "Q8_0", "2,048 tokens", "mit", "0.5 credits per job", "0 of 0 online"]) {
      expect(preview).toContain(text);
    }
    await dialog.getByRole("button", { name: "Add for all accounts" }).click();
    await page.getByText("What is signed").waitFor();
    await page.getByText("offered").waitFor();
    expect(faults).toEqual([]);
  });
});
