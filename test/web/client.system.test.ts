import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginFrames, finishedFrame, outputFrame, runFrames } from "../support/network/attempt-frames.ts";
import { makeIslandState } from "../support/network/frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { CONSOLE_FLAGS, ConsoleBrowser, register, signIn } from "./browser.ts";

describe("the client pages of the console", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  let island: FakeIsland;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open(CONSOLE_FLAGS);
    browser = await ConsoleBrowser.open(coordinator.url);
    const host = await coordinator.createAccount("host@example.com");
    island = await FakeIsland.join(coordinator.url, host.islandToken);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await island[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  it("register an account and create a working key that is shown once", async () => {
    const { page, faults } = await browser.page();
    await register(page, "ann@example.com");
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByText("No API keys yet").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel(/^Name/).fill("laptop");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.getByLabel("API key", { exact: true }).innerText();
    expect((await call(coordinator.url, key, "GET", "/account")).body.data.email).toBe("ann@example.com");
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: "laptop", exact: true }).waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole("button", { name: "Revoke laptop" }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("No API keys yet").waitFor();
    expect((await call(coordinator.url, key, "GET", "/account")).status).toBe(401);
    expect(faults).toEqual([]);
  });

  it("stream a chat with its speed and cost, and stop it", async () => {
    const { page } = await browser.page();
    await register(page, "bob@example.com");
    // The coordinator's default model is selected.
    await expect.poll(() => page.getByLabel("Model").inputValue()).toBe("tiny-chat");
    await page.getByText("Costs 0.01 credits").waitFor();
    await page.getByPlaceholder("0.7", { exact: true }).waitFor();
    expect(await page.getByLabel("Max tokens").getAttribute("placeholder")).toBe("1024");
    await page.getByLabel("Prompt", { exact: true }).fill("Hi");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/Waiting( for an Island|:)/).waitFor();
    const first = await island.next("assign");
    island.send(...beginFrames(first), outputFrame(first, 1, "Hel"));
    await page.getByText("Hel", { exact: true }).waitFor();
    island.send(outputFrame(first, 2, "lo"), finishedFrame(first, 3, { completionTokens: 2 }));
    await page.getByText("Hello", { exact: true }).waitFor();
    await page.getByText("First token").waitFor();
    await page.getByText(/^0\.0000\d+ credits$/).waitFor();
    await page.getByLabel("Prompt", { exact: true }).fill("More");
    await page.keyboard.press("Enter");
    const second = await island.next("assign");
    expect(second.input).toMatchObject({
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "More" },
      ],
    });
    island.send(...beginFrames(second), outputFrame(second, 1, "never ends"));
    await page.getByText("never ends").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await island.next("cancel", ({ jobId }) => jobId === second.jobId);
    await page.getByText("Stopped.").waitFor();
    await page.getByText("never ends").waitFor();
  });

  it("show why a chat waits", async () => {
    const { page } = await browser.page();
    await register(page, "eve@example.com");
    await page.getByLabel("Model").selectOption("phi-4");
    await page.getByLabel("Prompt", { exact: true }).fill("Hi");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/Waiting: 1 Island offers llmcpp, but/).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("Hi");
  });

  it("show one reason with a progress bar while the model of a job is downloading", async () => {
    const fay = await coordinator.createAccount("fay@example.com");
    const { body } = await call(coordinator.url, fay.key, "POST", "/jobs", {
      workload: "tiny-chat",
      input: { prompt: "Hi" },
    });
    const assign = await island.next("assign");
    const { jobId, attempt } = assign;
    island.send({ type: "accepted", jobId, attempt });
    island.send({ type: "heartbeat", state: makeIslandState({ downloads: [{ slug: "tiny-chat", fraction: 0.64 }] }) });
    const { page } = await browser.page();
    await signIn(page, "fay@example.com");
    await page.goto(`/jobs/${body.data.id}`);
    await page.getByText("Waiting: model is downloading on 1 Island (64 %)").waitFor();
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("64");
    expect(await page.getByText("Waiting in the queue").count()).toBe(0);
    const steps = await page.locator(".timeline li").allInnerTexts();
    expect(steps.slice(1)).toEqual([
      expect.stringMatching(/^Assigned to an Island \(attempt 1\)/),
      expect.stringMatching(/^Downloading the model\s+64 %/),
    ]);
    island.send({ type: "heartbeat", state: makeIslandState({ downloads: [] }) }, ...runFrames(assign, "Ho"));
    await page.getByText("Ho", { exact: true }).waitFor();
  });

  it("keep typed text when the session ends, and ask for the password in place", async () => {
    await coordinator.createAccount("cara@example.com");
    const { page } = await browser.page();
    await signIn(page, "cara@example.com");
    const prompt = page.getByLabel("Prompt", { exact: true });
    await prompt.fill("A long thought");
    // Changing the password in another browser ends all other sessions.
    const email = "cara@example.com";
    const passwords = { current: "correct horse", new: "another horse" };
    const { body } = await call(coordinator.url, null, "POST", "/auth/login", { email, password: passwords.current });
    await call(coordinator.url, body.data.token, "POST", "/account/password", passwords);
    await page.getByRole("button", { name: "Send" }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel("Password").fill("wrong password");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await expect.poll(() => dialog.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByLabel("Password").fill(passwords.new);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await prompt.inputValue()).toBe("A long thought");
    await page.getByRole("button", { name: "Send" }).click();
    const job = await island.next("assign");
    island.send(...beginFrames(job), finishedFrame(job, 1));
  });

  it("show errors at the fields and keep their values", async () => {
    const { page } = await browser.page();
    await page.goto("/register");
    await page.getByLabel("E-mail").fill("no address");
    await page.getByLabel("Password").fill("short");
    await page.getByRole("button", { name: "Open an account" }).click();
    const email = page.getByLabel("E-mail");
    await expect.poll(() => email.getAttribute("aria-invalid")).toBe("true");
    expect(await email.inputValue()).toBe("no address");
    const described = await email.getAttribute("aria-describedby");
    expect(await page.locator(`[id="${described}"]`).innerText()).not.toBe("");
    await page.goto("/sign-in");
    await page.getByLabel("E-mail").fill("ann@example.com");
    await page.getByLabel("Password").fill("wrong password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect.poll(() => page.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("E-mail").inputValue()).toBe("ann@example.com");
  });

  it("compare Cargos in the catalog, and collapse rarely used parameters of a chat Cargo", async () => {
    const { key } = await coordinator.createAccount("gil@example.com");
    const messages = [{ role: "user", content: "Hi" }];
    const chat = call(coordinator.url, key, "POST", "/chat/completions", { model: "tiny-chat", messages });
    const first = await island.next("assign");
    island.send(...beginFrames(first), outputFrame(first, 1, "Hel"), outputFrame(first, 2, "lo"));
    island.send(finishedFrame(first, 3, { completionTokens: 2 }));
    await chat;
    const { page } = await browser.page();
    await signIn(page, "gil@example.com");
    await page.goto("/catalog");
    const row = page.getByRole("row", { name: /^Tiny Islander/ });
    await expect
      .poll(() => row.getByRole("cell").allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Tiny Islander/),
        expect.stringMatching(/on 1 Island/),
        "0.01",
        "4 / 16",
        "1,024",
        expect.stringMatching(/^[\d.,]+$/),
        expect.stringMatching(/^[\d.]+ m?s$/),
      ]);
    await row.getByRole("link").click();
    await page.getByRole("button", { name: "Run" }).waitFor();
    const shown = async () =>
      (await page.locator(".schema-fields label:visible").allInnerTexts()).map((label) =>
        label.replace(" optional", ""),
      );
    expect(await shown()).toEqual(["Prompt", "Max tokens", "Temperature"]);
    await page.getByText("More options", { exact: true }).click();
    expect(await shown()).toContain("Reasoning effort");
    await page.getByLabel("Prompt", { exact: true }).fill("Hi");
    await page.getByLabel("Temperature").fill("0");
    await page.getByRole("button", { name: "Run" }).click();
    const assign = await island.next("assign");
    expect(assign.input).toEqual({ prompt: "Hi", temperature: 0 });
    island.send(...runFrames(assign, "Ho"));
    await page.getByText("Ho", { exact: true }).waitFor();
  });

  it("run a Cargo from the form for its schema", async () => {
    const { page } = await browser.page();
    await register(page, "dan@example.com");
    await page.getByRole("link", { name: "Catalog" }).click();
    await page.getByRole("link", { name: "Text statistics" }).click();
    await page.getByLabel("Text", { exact: true }).fill("");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("This field is required").waitFor();
    await page.getByLabel("Text", { exact: true }).fill("One two.");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("Waiting in the queue.").waitFor();
    await page.getByRole("link", { name: /^Job job_/ }).click();
    await page.getByText(/^Waiting:/).waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByText("cancelled", { exact: true }).waitFor();
  });
});
