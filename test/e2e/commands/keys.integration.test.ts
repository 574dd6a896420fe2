import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../../support/http/http.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { runCommand } from "../../support/run-command.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const EMAIL = "ann@example.com";

let coordinator: TestCoordinator;
beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  await coordinator.createAccount(EMAIL);
});
afterAll(() => coordinator[Symbol.asyncDispose]());

const key = (word: string, ...args: string[]) =>
  runCommand("key", word, "--email", EMAIL, ...args, ...coordinator.locationFlags);

describe("coordinator key create", () => {
  it("creates a key with the limits of its flags, enforced by the API and shown by `key list`", async () => {
    const nextYear = new Date(Date.now() + 365 * 24 * 3_600_000).toISOString().slice(0, 10);
    const words = ["--expires-at", nextYear, "--cargos", "base64, word-wrap", "--credits-per-month", "2.5", "--json"];
    const made = JSON.parse((await key("create", "--name", "limited", "--trust", "proven", ...words)).stdout);
    const limits = { expires_at: `${nextYear}T00:00:00.000Z`, cargos: ["base64", "word-wrap"], credits_per_month: 2.5 };
    expect(made).toMatchObject({ ...limits, trust: "proven" });
    const { body } = await call(coordinator.url, made.key, "GET", "/api-keys");
    expect(body.data.find(({ id }: { id: string }) => id === made.id)).toMatchObject(limits);
    const refused = await call(coordinator.url, made.key, "POST", "/jobs", { workload: "tiny-chat", input: {} });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "cargo_not_allowed" } } });
    expect((await key("list")).stdout).toContain(
      `  until ${limits.expires_at}, for base64,word-wrap, 2.5 credits per month, trust proven  limited\n`,
    );
  });

  it.each([
    [["--expires-at", "tomorrow"], /^--expires-at: must be a time such as 2027-01-31 .*, got "tomorrow"$/],
    [["--expires-at", "2026-02-31T25:00:00Z"], /^--expires-at: /],
    [["--expires-at", "2020-01-01"], "expires_at: must be in the future, at most ten years ahead"],
    [["--cargos", "base46"], '--cargos: no Cargo has the slug "base46". List all with: coordinator cargo list'],
    [["--cargos", ""], '--cargos: no Cargo has the slug "". List all with: coordinator cargo list'],
    [
      ["--credits-per-month", "-1"],
      '--credits-per-month: must be a decimal number of 0 or more, such as 2.5, got "-1"',
    ],
    [["--credits-per-month", "0.0000001"], /^--credits-per-month: must have at most 6 decimals .*, got 0.0000001$/],
  ])("refuses %j", async (words, sentence) => {
    expectRefusal(await key("create", ...words), sentence, words[1] === "2020-01-01" ? 1 : 2);
  });
});
