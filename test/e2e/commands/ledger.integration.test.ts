import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, until } from "../../support/http/http.ts";
import { runCommand } from "../../support/run-command.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let key: string;

beforeAll(async () => {
  coordinator = await TestCoordinator.open();
  ({ key } = await coordinator.createAccount("ann@example.com", 2, { requestsPerMinute: null }));
});
afterAll(() => coordinator[Symbol.asyncDispose]());

/** Runs a command on the data directory of the running coordinator. */
const run = (...args: string[]) => runCommand(...args, ...coordinator.locationFlags);
const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);

describe("coordinator account limits", () => {
  const limits = (...args: string[]) => runJson("account", "limits", "--email", "ANN@example.com", ...args);

  it("shows and changes the limits of a running server at once", async () => {
    const defaults = { requests_per_minute: 100, concurrent_jobs: 10, concurrent_streams: 5, share: 100 };
    const allowed = async () => (await call(coordinator.url, key, "GET", "/account")).headers.get("x-ratelimit-limit");
    expect(await limits()).toMatchObject(defaults);
    expect(await allowed()).toBe("100");
    expect(await limits("--requests-per-minute", "1000", "--jobs", "0", "--share", "250")).toMatchObject({
      ...defaults,
      requests_per_minute: 1_000,
      concurrent_jobs: 0,
      share: 250,
    });
    // Coordinators that share a database poll for changes twice a second.
    await until(allowed, (limit) => limit === "1000", "the new limit");
    const job = { workload: "tiny-chat", input: { prompt: "Hi" } };
    const refused = await call(coordinator.url, key, "POST", "/jobs", job);
    expect([refused.status, refused.headers.get("x-ratelimit-limit")]).toEqual([429, "1000"]);
    const back = await run(
      "account",
      "limits",
      "--email",
      "ann@example.com",
      "--requests-per-minute",
      "default",
      "--jobs",
      "default",
      "--share",
      "default",
    );
    expect(back).toMatchObject({
      code: 0,
      stdout: "100 requests per minute, 10 unfinished jobs, 5 open streams, share 100\n",
    });
    await until(allowed, (limit) => limit === "100", "the default limit");
  });

  it.each([
    [
      ["--email", "nobody@example.com"],
      expect.stringMatching(/^No account has the e-mail address nobody@example\.com\. List all accounts with: /),
      1,
    ],
    [
      ["--email", "ann@example.com", "--jobs", "-1"],
      '--jobs: must be an integer from 0 to 1000000, or default, got "-1"\n',
    ],
    [
      ["--email", "ann@example.com", "--jobs", ""],
      '--jobs: must be an integer from 0 to 1000000, or default, got ""\n',
    ],
    [
      ["--email", "ann@example.com", "--requests-per-minute", "0x10"],
      '--requests-per-minute: must be an integer from 1 to 1000000, or default, got "0x10"\n',
    ],
    [
      ["--email", "ann@example.com", "--streams", "many"],
      '--streams: must be an integer from 0 to 1000000, or default, got "many"\n',
    ],
  ])("rejects %j", async (args, message, code = 2) => {
    expect(await run("account", "limits", ...args)).toMatchObject({ code, stderr: message });
  });
});

describe("coordinator credits grant", () => {
  const AMOUNTS = ["", "0", "0.0000001", "-0.0000001", "much", "0x10", "1e3", "4000000001"];

  it("grants credits that can be spent at once", async () => {
    expect(await runJson("credits", "grant", "--email", "ann@example.com", "--credits", "0.5")).toMatchObject({
      credits: 2.5,
    });
    expect((await call(coordinator.url, key, "GET", "/account")).body.data.credits).toBe(2.5);
  });

  it.each(AMOUNTS)("rejects %j credits", async (credits) => {
    const { code, stderr } = await run("credits", "grant", "--email", "ann@example.com", `--credits=${credits}`);
    expect([code, stderr]).toEqual([
      2,
      `--credits: must be -4000000000 to 4000000000 but not 0, with at most 6 decimals, got "${credits}"\n`,
    ]);
  });

  it("takes credits back with a note in the account's ledger, up to its balance", async () => {
    const { key: theirs } = await coordinator.createAccount("back@example.com", 30);
    const take = (...words: string[]) => run("credits", "grant", "--email", "back@example.com", "--credits", ...words);
    const unsaid = await take("-20");
    expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringMatching(/^--note: is needed to take credits back/)]);
    const taken = await take("-20", "--note", "Granted twice");
    expect([taken.code, taken.stdout]).toEqual([0, "back@example.com has 10 credits\n"]);
    const tooMuch = await take("-10.5", "--note", "More");
    expect([tooMuch.code, tooMuch.stderr]).toEqual([
      1,
      "back@example.com has 10 credits to spend, so at most 10 can be taken back, not 10.5\n",
    ]);
    const [line] = (await call(coordinator.url, theirs, "GET", "/account/ledger")).body.data;
    expect(line).toMatchObject({ kind: "correction", amount: -20, balance: 10, note: "Granted twice" });
  });

  it("rejects a grant above the maximum balance with a clear message", async () => {
    await coordinator.createAccount("rich@example.com", 4_000_000_000);
    const grant = () => run("credits", "grant", "--email", "rich@example.com", "--credits", "4000000000");
    expect((await grant()).code).toBe(0);
    const { code, stderr } = await grant();
    expect([code, stderr]).toEqual([1, "This grant would raise the account's balance above 9,007,199,254 credits\n"]);
  });
});

describe("coordinator ledger verify", () => {
  it("exits with 0 for balanced books, and with 1 and the fault otherwise", async () => {
    const right = await run("ledger", "verify");
    expect([right.code, right.stdout]).toEqual([0, expect.stringMatching(/^\d+ entries: the ledger is balanced\n$/)]);
    expect(await runJson("ledger", "verify")).toMatchObject({ balanced: true, sumMicro: 0, wrongBalances: [] });
    coordinator.runSql("UPDATE balances SET micro = micro + 1 WHERE party = 'network'");
    const wrong = await run("ledger", "verify");
    expect([wrong.code, wrong.stdout]).toEqual([
      1,
      expect.stringMatching(/^network: the balance is .* the sum of its entries is .*\n$/),
    ]);
  });
});
