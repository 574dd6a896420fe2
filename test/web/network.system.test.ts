import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { Program } from "../support/program.ts";
import { ConsoleBrowser, register, signIn } from "./browser.ts";

const run = promisify(execFile);
const DIGEST = `sha256:${"ab".repeat(32)}`;
const FILE = {
  slug: "made",
  name: "Made",
  description: "For a test",
  category: "utility",
  runtime_type: "container",
  licence: "MIT",
  price_per_job: 0.01,
  required_ram_mb: 64,
  required_vram_mb: 0,
  run_limit_s: 10,
  wait_limit_s: 60,
  input_schema: { type: "object" },
  example_input: {},
};

describe("the console of a real network", () => {
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
  const request = async (key: string, method: string, path: string, body?: unknown) =>
    (await call(network.url, key, method, path, body)).body.data;

  it("shows a job live to its end across a crash and restart of the coordinator", async () => {
    const { key, islandToken } = network.createAccount("ann@example.com");
    const { page, faults } = await browser.page();
    await signIn(page, "ann@example.com");
    await page.goto("/jobs");
    await page.getByText("No jobs yet").waitFor();
    const { id } = await request(key, "POST", "/jobs", {
      workload: "tiny-chat",
      input: { prompt: "Count from 3 to 9.", temperature: 0 },
    });
    await page.getByRole("link", { name: id }).click();
    await page.getByText(/^Waiting: no Island is online/).waitFor();
    await network.restartCoordinator("SIGKILL");
    await using _island = await network.startIsland("studio", islandToken);
    await page.getByText("3, 4, 5, 6, 7, 8, 9.").waitFor();
    await page.getByText("completed", { exact: true }).waitFor();
    await page.getByText("is not responding").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
    await page.getByRole("cell", { name: "completed" }).waitFor();
    const second = await request(key, "POST", "/jobs", {
      workload: "tiny-chat",
      input: { prompt: "Count from 3 to 5." },
    });
    await page.getByRole("link", { name: second.id }).waitFor();
    await expect.poll(() => page.getByRole("cell", { name: "completed" }).count()).toBe(2);
    expect(faults).toEqual([]);
  });

  it("reports a rate limit instead of an unreachable coordinator", async () => {
    network.createAccount("busy@example.com", 10, { requestsPerMinute: 10 });
    const { page } = await browser.page();
    await signIn(page, "busy@example.com");
    // A page may be left before its requests are sent.
    for (let load = 0; load < 8; load += 1) await page.goto("/jobs");
    await page
      .getByText(/^Too many requests\. Try again in \d+ s\.$/)
      .first()
      .waitFor();
    expect(await page.getByText("is not responding").count()).toBe(0);
  });

  it("adds an Island with a pairing code, and shows it connect, work and earn", async () => {
    const { page } = await browser.page();
    await register(page, "host@example.com");
    await page.getByRole("link", { name: "Add an Island" }).click();
    await page.getByRole("button", { name: "Create code" }).click();
    const code = await page.getByText(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/).innerText();
    await page.getByText("The agent’s package is neither on this coordinator").waitFor();
    expect(await page.locator("main").innerText()).not.toContain("@atoll/island");
    await mkdir(join(network.data, "downloads"));
    await writeFile(join(network.data, "downloads", "atoll-island-0.1.0.tgz"), "the agent");
    await page.reload();
    await page.getByRole("button", { name: "Create code" }).click();
    await page.getByRole("button", { name: "Linux" }).click();
    await page.getByText("Other machines cannot reach").waitFor();
    for (const step of ["Download the agent", "Verify the download"]) {
      await run("sh", ["-ec", await page.getByLabel(step).innerText()], { cwd: network.directory });
    }
    expect(await readFile(join(network.directory, "atoll-island-0.1.0.tgz"), "utf8")).toBe("the agent");
    const command = await page.getByLabel(/^Join/).innerText();
    const [, address = ""] = /^island join (\S+)$/.exec(command) ?? [];
    const data = ["--data", network.islandData("garage")];
    const joined = await new Program("island", ["join", address, "--code", code, ...data]).ended();
    expect([joined.code, joined.stderr]).toEqual([0, expect.any(String)]);
    for (const [name, value] of [
      ["gpu", "off"],
      ["models.preload", "false"],
      ["cargos.allow_runtimes", "llmcpp"],
    ] as const) {
      await new Program("island", ["config", "set", name, value, ...data]).ended();
    }
    await using island = new Program("island", ["start", ...data]);
    await island.printed(/connected to/);
    const arrival = page.getByText("has joined.");
    await arrival.waitFor();
    await arrival.getByRole("link").click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    const { key } = network.createAccount("client@example.com");
    const { id } = await request(key, "POST", "/jobs", {
      workload: "tiny-chat",
      input: { prompt: "Count from 3 to 5." },
    });
    await until(
      () => request(key, "GET", `/jobs/${id}`),
      ({ status }) => status === "completed",
      "completed",
    );
    await page.getByRole("link", { name: "My Islands" }).first().click();
    await expect
      .poll(async () => page.getByText("Credits earned today").locator("..").innerText(), { timeout: 30_000 })
      .toMatch(/0\.\d+/);
    await page.getByRole("link", { name: "Usage" }).click();
    const booked = page.getByRole("row").filter({ hasText: "tiny-chat earned" });
    await booked.getByText(/^\+0\.000\d+$/).waitFor();
    // The job belongs to another account.
    expect(await booked.getByRole("link").count()).toBe(0);

    const { page: theirs } = await browser.page();
    await signIn(theirs, "client@example.com");
    await theirs.goto("/usage");
    const paid = theirs.getByRole("table", { name: "Ledger" }).getByRole("row").filter({ hasText: "tiny-chat" });
    await paid.getByText(/^−0\.000\d+$/).waitFor();
    expect(await paid.count()).toBe(1);
    await paid.getByRole("button", { name: "tiny-chat" }).click();
    await theirs.getByRole("dialog").getByRole("cell", { name: "Charged" }).waitFor();
    await theirs.getByRole("link", { name: "Open the job" }).click();
    await theirs.getByText("completed", { exact: true }).waitFor();
  });

  it("lets an operator approve a Cargo and suspend an Island, and hides these pages from others", async () => {
    const { key, islandToken } = network.createAccount("owner@example.com");
    network.createAccount("op@example.com");
    await network.manage("account", "role", "--email", "op@example.com", "--operator");
    const container = {
      image: "docker.io/library/alpine:3",
      digest: DIGEST,
      command: ["true"],
      network: true,
      gpu: false,
    };
    const made = await call(network.url, key, "POST", "/cargos", { ...FILE, container });
    expect(made.body.error).toBeUndefined();
    await using _island = await network.startIsland("attic", islandToken);
    const { page, faults } = await browser.page();
    await signIn(page, "op@example.com");
    await page.getByRole("link", { name: "Cargo approvals" }).click();
    await page.getByRole("link", { name: "made", exact: true }).click();
    await page.getByText(DIGEST).first().waitFor();
    await page.getByText("can reach the public internet").waitFor();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("button", { name: "Sign and approve" }).click();
    await expect.poll(async () => (await call(network.url, null, "GET", "/cargos/made")).status).toBe(200);

    const loose = {
      image: "registry.invalid/some/image:3",
      digest: null,
      command: ["true"],
      network: false,
      gpu: false,
    };
    await request(key, "POST", "/cargos", { ...FILE, slug: "loose", container: loose });
    await page.getByRole("link", { name: "Cargo approvals" }).first().click();
    await page.getByRole("link", { name: "loose", exact: true }).click();
    await page.getByText("not pinned").waitFor();
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByText("registry.invalid did not respond").waitFor();
    expect(await page.getByRole("main").innerText()).not.toContain("--");
    await page.getByLabel("Image digest").fill(DIGEST);
    await page.getByRole("button", { name: "Use this hash" }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByRole("button", { name: "Sign and approve" }).click();
    await expect.poll(async () => (await call(network.url, null, "GET", "/cargos/loose")).status).toBe(200);

    const [{ id: islandId }] = await request(key, "GET", "/islands");
    await page.getByRole("navigation").getByRole("link", { name: "Islands", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: "owner@example.com" });
    await row.getByRole("button", { name: /^Suspend/ }).click();
    await page.getByLabel("Reason").fill("too hot");
    await page.getByRole("button", { name: "Suspend", exact: true }).click();
    await expect.poll(async () => (await request(key, "GET", `/islands/${islandId}`)).status).toBe("suspended");
    await row.getByRole("button", { name: /^Reinstate/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reinstate" }).click();
    await expect.poll(async () => (await request(key, "GET", `/islands/${islandId}`)).status).not.toBe("suspended");

    await page.goto("/operator/cargos/tiny-chat");
    await page.getByLabel("Credits per job").fill("0.5");
    await page.getByRole("button", { name: "Change price", exact: true }).click();
    await page.getByRole("button", { name: "Reset to the shipped price" }).waitFor();
    expect((await call(network.url, null, "GET", "/cargos/tiny-chat")).body.data.price_per_job).toBe(0.5);

    // A narrow screen also shows the owner of an Island, and full lines of the audit log.
    await page.setViewportSize({ width: 375, height: 812 });
    await page.goto("/operator/islands");
    await page.getByRole("link", { name: "owner@example.com" }).filter({ visible: true }).waitFor();
    await page.goto("/operator/audit");
    await page.getByRole("button", { name: "cargo.price" }).click();
    await page.getByRole("dialog").getByText('"price": 0.5').waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    expect(faults).toEqual([]);

    const { page: theirs } = await browser.page();
    await signIn(theirs, "owner@example.com");
    await theirs.goto("/operator");
    await theirs.getByText("Page not found").waitFor();
    expect(await theirs.getByText("Cargo approvals").count()).toBe(0);
  });
});
