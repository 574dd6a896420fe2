import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runFrames } from "../support/network/attempt-frames.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call, until } from "../support/http/http.ts";
import { runCommand } from "../support/run-command.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { CONSOLE_FLAGS, ConsoleBrowser, signIn } from "./browser.ts";

/** Texts that would call `alert` if they were interpreted as HTML, a script, a style or an address. */
const CORPUS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  '"><iframe srcdoc="<script>parent.alert(1)</script>">',
  "</textarea><details open ontoggle=alert(1)>",
  "javascript:alert(1)",
  "[link](javascript:alert(1))",
  "<style>@import 'https://evil.example/x.css'</style>",
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  "{{constructor.constructor('alert(1)')()}}",
  "&lt;img src=x onerror=alert(1)&gt;",
];
const ALL = CORPUS.join(" ");
/** Text short enough for a name. */
const NAME = "<img src=x onerror=alert(1)>";

describe("HTML in texts of other accounts", () => {
  let coordinator: TestCoordinator;
  let browser: ConsoleBrowser;
  let island: FakeIsland;
  let key: string;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open(CONSOLE_FLAGS);
    browser = await ConsoleBrowser.open(coordinator.url);
    const account = await coordinator.createAccount("ann@example.com");
    ({ key } = account);
    const cachedModels = [{ key: NAME, bytes: 1 }];
    const engineModels = [
      { key: NAME, features: [], slots: 4, contextTokens: null, parameters: NAME, quantization: NAME },
    ];
    island = await FakeIsland.join(coordinator.url, account.islandToken, {
      hostName: NAME,
      agentVersion: "0.1.0",
      state: {
        ...{ cpuLoad: 0, freeRamBytes: 2 ** 33, freeVramBytes: null, cachedModels, loaded: [], loading: [NAME] },
        engineModels,
        downloads: [
          { slug: NAME, fraction: 0.5, receivedBytes: 101 * MIB, totalBytes: 202 * MIB, bytesPerSecond: 4 * MIB },
        ],
      },
    });
    island.handle((frame) => {
      if (frame.type === "assign") island.send(...runFrames(frame, ...CORPUS));
    });
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await island[Symbol.asyncDispose]();
    await coordinator[Symbol.asyncDispose]();
  });

  const request = async (method: string, path: string, body?: unknown) =>
    (await call(coordinator.url, key, method, path, body)).body;

  it("is shown as text and never executed", async () => {
    const job = (await request("POST", "/jobs", { workload: "tiny-chat", input: { prompt: ALL } })).data;
    const done = await until(
      async () => (await request("GET", `/jobs/${job.id}`)).data,
      ({ status }) => status === "completed",
      "completed",
    );
    expect(done.output).toBe(CORPUS.join(""));
    const [{ id: islandId }] = (await request("GET", "/islands")).data;
    const talk = (await request("POST", "/conversations", { model: "tiny-chat", title: NAME, system_prompt: ALL }))
      .data;
    await request("POST", `/conversations/${talk.id}/messages`, { content: ALL });
    await request("POST", "/island-tokens", { name: NAME });
    const made = await call(coordinator.url, key, "POST", "/cargos", {
      slug: "hostile",
      name: NAME,
      description: ALL.slice(0, 300),
      category: "utility",
      runtime_type: "container",
      container: { image: "docker.io/library/alpine:3", digest: null, command: ["true"], network: false, gpu: false },
      licence: "MIT",
      price_per_job: 0.01,
      required_ram_mb: 64,
      required_vram_mb: 0,
      run_limit_s: 10,
      wait_limit_s: 60,
      input_schema: { type: "object", properties: { [NAME]: { type: "string", description: ALL, default: NAME } } },
      example_input: { [NAME]: NAME },
    });
    expect(made.body.error).toBeUndefined();

    const { page, faults } = await browser.page();
    const alerts: string[] = [];
    page.on("dialog", (dialog) => {
      alerts.push(dialog.message());
      void dialog.dismiss();
    });
    await signIn(page, "ann@example.com");
    // Type a key's name in the page, as its owner would.
    await page.goto("/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel(/^Name/).fill(NAME);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await shows(page, "/keys", NAME);
    await shows(page, `/jobs/${job.id}`, CORPUS.join(""));
    await shows(page, "/islands", NAME);
    await shows(page, `/islands/${islandId}`, NAME);
    await page.getByText("101 MiB of 202 MiB, 4 MiB/s, 26 s left").waitFor();
    await page.getByText("loading into memory").waitFor();
    await shows(page, "/islands/add", NAME);
    await shows(page, "/conversations", NAME);
    await shows(page, `/conversations/${talk.id}`, ALL);
    await shows(page, `/conversations/${talk.id}`, CORPUS.join(""));
    await shows(page, "/catalog", NAME);
    await shows(page, "/catalog/hostile", NAME);
    await shows(page, `/catalog/${encodeURIComponent(NAME)}`, NAME);
    await shows(page, `/jobs?cargo=${encodeURIComponent(NAME)}`, NAME);
    await page.goto("/playground?cargo=tiny-chat");
    await page.getByLabel("Prompt", { exact: true }).fill(ALL);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(CORPUS.join("")).waitFor();
    expect([alerts, faults]).toEqual([[], []]);
  });

  it("does not widen the public page", async () => {
    const text = `${ALL}${"W".repeat(300)}`;
    await runCommand("announcement", "add", "--text", text, ...coordinator.locationFlags);
    const { page, faults } = await browser.page({ viewport: { width: 375, height: 800 } });
    // Announcements of another process are read up to a second later.
    await until(
      () =>
        shows(page, "/", text).then(
          () => true,
          () => false,
        ),
      (isShown) => isShown,
      "the announcement is shown",
    );
    const [width, visible] = await page.evaluate<number[]>("[document.documentElement.scrollWidth, innerWidth]");
    expect([width, faults]).toEqual([visible, []]);
  });

  /** Expects the page to show the text without creating elements from it. */
  async function shows(page: Page, path: string, text: string): Promise<void> {
    await page.goto(path);
    await page.getByText(text).first().waitFor();
    const made = await page.locator("main :is(script, iframe, style, math, img, mglyph)").count();
    expect([path, made]).toEqual([path, 0]);
  }
});
