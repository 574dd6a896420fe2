import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { SHIPPED_CATALOG } from "../support/small-catalog.ts";
import { ConsoleBrowser, signIn } from "./browser.ts";

/**
 * Takes screenshots of every page of the console on a network with an Island and a few jobs, for `npm run screenshots`.
 */
const FOLDER = join(import.meta.dirname, "..", "..", "docs", "console");
const EMAIL = "ann@example.com";
/** Prefix of the names of the pages to take. Default: all pages. */
const ONLY = process.argv[2] ?? "";
const WIDE = { width: 1_280, height: 800 };
const NARROW = { width: 390, height: 844 };

await mkdir(FOLDER, { recursive: true });
await using network = await Network.open(["--catalog-directory", SHIPPED_CATALOG]);
const { id, key, islandToken } = network.createAccount(EMAIL, 250);
await network.manage("account", "role", "--email", EMAIL, "--operator");
await mkdir(join(network.data, "downloads"));
await writeFile(join(network.data, "downloads", "atoll-island-0.1.0.tgz"), "the agent");
await network.startIsland("studio", islandToken, { "cargos.allow_runtimes": "llmcpp,wasm" });
const ids = await makeWork();
await using browser = await ConsoleBrowser.open(network.url);

for (const name of ["front", "sign-in", "register", "forgot-password"].filter((name) => name.startsWith(ONLY))) {
  const { page } = await browser.page({ viewport: WIDE });
  await page.goto(name === "front" ? "/" : `/${name}`);
  await page.locator("h1").waitFor();
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: "detached" });
  await take(page, name);
}

const PAGES: readonly (readonly [name: string, path: string, act?: (page: Page) => Promise<void>])[] = [
  ["playground", "/", chat],
  ["playground-cargo", "/playground?cargo=text-statistics"],
  ["jobs", "/jobs"],
  ["job", `/jobs/${ids.job}`],
  ["job-waiting", `/jobs/${ids.waiting}`],
  ["batches", "/batches"],
  ["batch", `/batches/${ids.batch}`],
  ["conversations", "/conversations"],
  ["conversation", `/conversations/${ids.conversation}`],
  ["catalog", "/catalog"],
  ["cargo", "/catalog/json-format"],
  ["keys", "/keys"],
  ["key-new", "/keys", (page) => page.getByRole("button", { name: "New key" }).click()],
  ["usage", "/usage"],
  ["account", "/account"],
  ["islands", "/islands"],
  ["island", `/islands/${ids.island}`],
  ["island-add", "/islands/add", (page) => page.getByRole("button", { name: "Create code" }).click()],
  ["operator-overview", "/operator", (page) => page.waitForTimeout(7_000)],
  ["operator-islands", "/operator/islands"],
  ["operator-accounts", "/operator/accounts"],
  ["operator-account", `/operator/accounts/${id}`],
  ["operator-standings", "/operator/standings"],
  ["operator-jobs", "/operator/jobs"],
  ["operator-queue", "/operator/queue"],
  ["operator-cargos", "/operator/cargos?status=all"],
  ["operator-cargo", "/operator/cargos/tiny-chat"],
  ["operator-audit", "/operator/audit"],
  ["operator-settings", "/operator/settings"],
  ["not-found", "/jobs/a/b"],
];
for (const [suffix, options] of [
  ["", { viewport: WIDE }],
  ["-dark", { viewport: WIDE, colorScheme: "dark" }],
  ["-phone", { viewport: NARROW, isMobile: true, hasTouch: true }],
] as const) {
  const { page, faults } = await browser.page(options);
  await signIn(page, EMAIL);
  for (const [name, path, act] of PAGES.filter(([name]) => name.startsWith(ONLY))) {
    await page.goto(path);
    await page.locator("h1").first().waitFor();
    await page
      .getByText(/^Loading/)
      .first()
      .waitFor({ state: "detached" });
    await act?.(page);
    await take(page, `${name}${suffix}`);
  }
  if (suffix === "-phone") {
    await page.goto("/jobs");
    await page.getByRole("button", { name: "Menu" }).click();
    await take(page, "menu-phone");
  }
  for (const fault of faults) process.stderr.write(`${suffix} ${fault}\n`);
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(400);
  // Reduces the size to a third, without a visible difference.
  const picture = sharp(await page.screenshot()).png({ palette: true });
  await picture.toFile(join(FOLDER, `${name}.png`));
}

async function chat(page: Page): Promise<void> {
  await page.getByLabel("Model").selectOption("tiny-chat");
  await page.getByLabel("Prompt", { exact: true }).fill("Count from 3 to 9.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Tokens/s").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
}

async function makeWork() {
  const request = async (method: string, path: string, body?: unknown) =>
    (await call(network.url, key, method, path, body)).body.data;
  const submit = (workload: string, input: unknown) => request("POST", "/jobs", { workload, input });
  const done = await submit("tiny-chat", { prompt: "Count from 3 to 12.", temperature: 0 });
  await submit("text-statistics", { text: "An atoll is a ring of islands." });
  await submit("base64", { text: "" });
  const cancelled = await submit("tiny-chat", { prompt: "Tell me a story.", max_tokens: 200 });
  await request("DELETE", `/jobs/${cancelled.id}`);
  const batch = await request("POST", "/jobs/batch", {
    workload: "tiny-chat",
    inputs: [3, 5, 7, 9].map((count) => ({ prompt: `Count to ${count}.` })),
  });
  const waiting = await submit("llama-3.3-70b-instruct", { prompt: "What is an atoll?" });
  const conversation = await request("POST", "/conversations", {
    model: "tiny-chat",
    title: "Sums",
    system_prompt: "Answer briefly.",
  });
  await request("POST", `/conversations/${conversation.id}/messages`, { content: "What is 7 plus 8?", temperature: 0 });
  await request("POST", "/conversations", { model: "tiny-chat", title: "Counting" });
  await call(network.url, key, "POST", "/api-keys", { name: "laptop", scopes: "read" }).catch(() => undefined);
  await until(
    () => request("GET", `/jobs/${done.id}`),
    ({ status }) => status === "completed",
    "the job to complete",
  );
  await until(
    () => request("GET", `/jobs/batch/${batch.id}`),
    ({ status }) => status !== "pending" && status !== "running",
    "the batch to end",
  );
  const [island] = await request("GET", "/islands");
  return { job: done.id, waiting: waiting.id, batch: batch.id, conversation: conversation.id, island: island.id };
}
