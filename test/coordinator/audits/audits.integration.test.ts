import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_DUE } from "../../../coordinator/audits/standings.ts";
import { PROVEN_AFTER } from "../../../coordinator/credits/standing.ts";
import { DATABASE_FILE } from "../../../coordinator/store/open-store.ts";
import { type ChatRead, readPositionsOf } from "../../../shared/chat-reading.ts";
import { systemClock } from "../../../shared/clock.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { SingleFrame } from "../../../shared/protocol/from-island.ts";
import { call } from "../../support/http/http.ts";
import { signIn } from "../../support/operator.ts";
import {
  beginFrames,
  failedFrame,
  finishedFrame,
  outputFrame,
  runFrames,
} from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeIslandState } from "../../support/network/frames.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { IS_POSTGRES } from "../../support/store/test-store.ts";

type Account = Awaited<ReturnType<TestCoordinator["createAccount"]>>;

const HONEST = "An honest answer";
/** Slots of each Island that answers and reads. */
const SLOTS = 4;
/** Tokens of answers, as honest Islands count them. */
const TOKENS = 10;
const LIE = "Words that the model does not write";

let coordinator: TestCoordinator;
let client: Account;
/** The text that Islands find consistent when they read. */
let accepted: string;
beforeEach(async () => {
  accepted = HONEST;
  coordinator = await TestCoordinator.open();
  client = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

/** Requires `chat.sampling2`, which readers do not have, and changes nothing. */
const NOT_FOR_READERS = { repeat_penalty: 1 };

/** An Island that answers chats with `text`, and that finds the beginnings of {@link accepted} consistent when it reads. */
async function joinIsland(owner: Account, text: () => string, isReader = true, mayRead = () => true, tokens = TOKENS) {
  const features = [isReader ? "chat.read" : "chat.sampling2"];
  const island = await FakeIsland.join(coordinator.url, owner.islandToken, {
    hostId: randomUUID(),
    features,
    slots: SLOTS,
    state: makeIslandState({ loaded: ["tiny-chat"] }),
  });
  const chats: Assign[] = [];
  const readings: Assign[] = [];
  island.handle((frame) => {
    if (frame.type !== "assign") return;
    const { read } = frame.input as { read?: ChatRead };
    if (read === undefined) {
      chats.push(frame);
      island.send(...runFrames(frame, text()));
    } else {
      readings.push(frame);
      if (!mayRead()) return;
      island.send(...beginFrames(frame), finishedFrame(frame, 1, { output: readingOf(read, tokens) }));
    }
  });
  return { island, chats, readings };
}

/** An Island that cannot read, and that answers chats with these frames. */
async function joinAnswering(owner: Account, framesOf: (chat: Assign) => SingleFrame[]) {
  const island = await FakeIsland.join(coordinator.url, owner.islandToken, {
    hostId: randomUUID(),
    features: ["chat.sampling2"],
    slots: 1,
  });
  const chats: Assign[] = [];
  island.handle((frame) => {
    if (frame.type !== "assign") return;
    chats.push(frame);
    island.send(...framesOf(frame));
  });
  return { island, chats };
}

/** Returns a reading in which {@link HONEST} has probable tokens, and other texts have improbable ones. */
function readingOf(read: ChatRead, tokens: number) {
  const [token, logprob] = accepted.startsWith(read.text) ? [1, Math.log(0.9)] : [3, -20];
  const top = [
    [1, Math.log(0.9)],
    [2, Math.log(0.1)],
  ];
  const positions = readPositionsOf(read, tokens).map((index) => ({ index, token, logprob, top }));
  return { prompt_tokens: 10, tokens, positions };
}

const api = (account: Account, method: string, path: string, body?: unknown) =>
  call(coordinator.url, account.key, method, path, body);

async function chat(parameters: object = {}): Promise<string> {
  const body = { workload: "tiny-chat", input: { prompt: "Tell me about the sea", ...parameters } };
  const { body: made } = await api(client, "POST", "/jobs", body);
  const { body: done } = await api(client, "GET", `/jobs/${made.data.id}?wait=20`);
  expect(done.data.status).toBe("completed");
  return done.data.id;
}

const creditsOf = async (account: Account): Promise<number> =>
  (await api(account, "GET", "/account")).body.data.credits;

/** Makes chats, which readers do not get, until the Island has answered `count` of them. */
async function chatUntil({ chats }: { readonly chats: readonly Assign[] }, count: number): Promise<void> {
  while (chats.length < count) await chat(NOT_FOR_READERS);
}

const openOwner = (name: string): Promise<Account> => coordinator.createAccount(`${name}@example.com`);

it("without another owner's Island that can read, an owner is paid at once", async () => {
  const owner = await openOwner("owner");
  await using _island = (await joinIsland(owner, () => HONEST)).island;
  const before = await creditsOf(owner);
  await chat();
  await expect.poll(() => creditsOf(owner)).toBeGreaterThan(before);
});

it("an owner is paid once other owners confirmed ten of its answers", async () => {
  const [owner, reader] = [await openOwner("owner"), await openOwner("reader")];
  const honest = await joinIsland(owner, () => HONEST, false);
  const other = await joinIsland(reader, () => HONEST);
  const before = await creditsOf(owner);
  await chatUntil(honest, PROVEN_AFTER - 1);
  await expect.poll(() => other.readings.length).toBeGreaterThanOrEqual(PROVEN_AFTER - 1);
  expect(await creditsOf(owner)).toBe(before);
  await chatUntil(honest, PROVEN_AFTER);
  const kept = "SELECT count(*) AS count FROM job_inputs WHERE input LIKE '%has_end%'";
  await expect.poll(() => coordinator.runSql(kept)).toEqual([{ count: 0 }]);
  await expect.poll(() => creditsOf(owner)).toBeGreaterThan(before);
  await Promise.all([honest, other].map(({ island }) => island[Symbol.asyncDispose]()));
});

it("an owner whose answers two other owners refute gets no more jobs, and its clients get their credits back", async () => {
  const owners = [await openOwner("liar"), await openOwner("first"), await openOwner("second")];
  const [liar, ...readers] = await Promise.all(
    owners.map((owner, nth) => joinIsland(owner, () => (nth === 0 ? LIE : HONEST), nth > 0)),
  );
  if (liar === undefined) throw new Error("No liar joined");
  await chatUntil(liar, 1);
  const earningsOf = (verdict: string) =>
    coordinator.runSql(
      "SELECT earning FROM audits WHERE owner_account_id = ? AND verdict = ?",
      owners[0]?.id ?? "",
      verdict,
    );
  await expect.poll(() => earningsOf("inconsistent").length).toBeGreaterThan(0);
  for (const row of earningsOf("inconsistent")) expect(row).toEqual({ earning: "refunded" });
  // Jobs that the liar had before are audited as well.
  await expect.poll(() => earningsOf("due")).toEqual([]);
  const { length } = liar.chats;
  for (let count = 0; count < 10; count += 1) await chat();
  expect(liar.chats).toHaveLength(length);
  expect(readers.map(({ readings }) => readings.length > 0)).toEqual([true, true]);
  await Promise.all([liar, ...readers].map(({ island }) => island[Symbol.asyncDispose]()));
});

it("a reader that invents probable tokens is quarantined, although it is right about the answers", async () => {
  const owners = [
    await openOwner("owner"),
    await openOwner("liar"),
    await openOwner("first"),
    await openOwner("second"),
  ];
  const [owner, ...others] = await Promise.all(
    owners.map((each, nth) =>
      joinIsland(
        each,
        () => HONEST,
        nth > 0,
        () => true,
        nth === 1 ? TOKENS + 5 : TOKENS,
      ),
    ),
  );
  if (owner === undefined) throw new Error("No owner joined");
  const states = () =>
    coordinator.runSql("SELECT owner_account_id AS id FROM standings WHERE standing LIKE '%quarantined%'");
  await expect
    .poll(async () => {
      await chat(NOT_FOR_READERS);
      return states();
    })
    .toEqual([{ id: owners[1]?.id }]);
  await Promise.all([owner, ...others].map(({ island }) => island[Symbol.asyncDispose]()));
});

describe.skipIf(IS_POSTGRES)("an answer to a job that is not stored yet", () => {
  const SUBMITTED = 24;

  /** Submits jobs, and stores them once the Island has answered all that it gets before. @returns their statuses */
  async function submitBeforeAnswers(from: Account, chats: readonly Assign[], answered: number) {
    const database = new Database(join(coordinator.directory, DATABASE_FILE));
    database.exec("BEGIN IMMEDIATE");
    const body = { workload: "tiny-chat", input: { prompt: "Hi", ...NOT_FOR_READERS } };
    const submitted = Array.from({ length: SUBMITTED }, () => api(from, "POST", "/jobs", body));
    try {
      // The store waits for a lock for 5 s.
      await vi.waitUntil(() => chats.length >= answered, { timeout: 4_000 });
      await systemClock.sleep(200);
    } finally {
      database.close();
    }
    return (await Promise.all(submitted)).map(({ status }) => status);
  }

  /** Joins a liar, and a reader that never answers. */
  async function joinLiar() {
    const reader = await openOwner("reader");
    await joinIsland(
      reader,
      () => HONEST,
      true,
      () => false,
    );
    return joinIsland(await openOwner("owner"), () => LIE, false);
  }

  it("counts as a due audit, so that a new owner gets no more jobs at the fifth", async () => {
    const { chats } = await joinLiar();
    const many = await coordinator.createAccount("many@example.com", 1_000, { concurrentJobs: SUBMITTED });
    expect(await submitBeforeAnswers(many, chats, MAX_DUE)).toEqual(Array<number>(SUBMITTED).fill(201));
    // The other slots were taken before the fifth answer.
    expect(chats.length).toBeLessThan(MAX_DUE + SLOTS);
  });

  it("no longer counts once the job is refused", async () => {
    const { chats } = await joinLiar();
    // The audit of this answer does not end, and the next audits of its owner would wait for it.
    await chat(NOT_FOR_READERS);
    const poor = await coordinator.createAccount("poor@example.com", 0, { concurrentJobs: SUBMITTED });
    expect(await submitBeforeAnswers(poor, chats, MAX_DUE)).toEqual(Array<number>(SUBMITTED).fill(402));
    const before = chats.length;
    await chatUntil({ chats }, before + 1);
  });
});

it("an owner that reports more tokens than its readers count is quarantined", async () => {
  const owners = [await openOwner("liar"), await openOwner("first"), await openOwner("second")];
  const [owner, ...others] = owners;
  if (owner === undefined) throw new Error("No owner was made");
  const readers = await Promise.all(others.map((other) => joinIsland(other, () => HONEST)));
  await using _liar = (
    await joinAnswering(owner, (frame) => {
      const { jobId, attempt } = frame;
      return [
        { type: "accepted", jobId, attempt },
        { type: "started", jobId, attempt, prompt: { total: 900, done: 900 } },
        outputFrame(frame, 1, ...HONEST.split("")),
        // Only the usage of the end is honest.
        finishedFrame(frame, 2, { promptTokens: 10, completionTokens: 4 }),
      ];
    })
  ).island;
  const standingOf = () => coordinator.runSql("SELECT standing FROM standings WHERE owner_account_id = ?", owner.id);
  await chat({ ...NOT_FOR_READERS, prompt: "Tell me about the sea. ".repeat(50) });
  await expect.poll(() => JSON.stringify(standingOf())).toContain("quarantined");
  await Promise.all(readers.map(({ island }) => island[Symbol.asyncDispose]()));
});

it("a long answer, of which only a beginning is read, does not count as overcharged", async () => {
  const [owner, reader] = [await openOwner("owner"), await openOwner("reader")];
  const words = Array.from({ length: 600 }, (_, nth) => `word${nth} `);
  accepted = words.join("");
  const mayRead = () => true;
  const other = await joinIsland(reader, () => accepted, true, mayRead, words.length);
  const { island, chats } = await joinAnswering(owner, (frame) => runFrames(frame, ...words));
  await chatUntil({ chats }, 1);
  const verdictOf = () => coordinator.runSql("SELECT verdict FROM audits WHERE id = ?", chats[0]?.jobId ?? "");
  await expect.poll(verdictOf).toEqual([{ verdict: "consistent" }]);
  const texts = other.readings.map(({ input }) => (input as { read?: ChatRead }).read?.text ?? "");
  for (const text of texts) expect([text.length < accepted.length, / word\d+$/.test(text)]).toEqual([true, true]);
  await Promise.all([island, other.island].map((each) => each[Symbol.asyncDispose]()));
});

it("a beginning that its Island calls an answer at the limit does not count for its owner", async () => {
  const owner = await openOwner("owner");
  const reader = await openOwner("reader");
  // In a short answer, the drawn positions may be too few for a verdict.
  const tokens = 60;
  accepted = `${HONEST}. `.repeat(5);
  await using _reader = (
    await joinIsland(
      reader,
      () => accepted,
      true,
      () => true,
      tokens,
    )
  ).island;
  const { island, chats } = await joinAnswering(owner, (frame) => {
    const end = finishedFrame(frame, 2, { completionTokens: 1 });
    return [...beginFrames(frame), outputFrame(frame, 1, accepted), { ...end, finishReason: "length" } as typeof end];
  });
  for (const max_tokens of [100, tokens]) await chat({ ...NOT_FOR_READERS, max_tokens });
  const verdicts = () =>
    chats.map(({ jobId }) => coordinator.runSql("SELECT verdict FROM audits WHERE id = ?", jobId)[0]);
  await expect.poll(verdicts).toEqual([{ verdict: "unclear" }, { verdict: "consistent" }]);
  await island[Symbol.asyncDispose]();
});

it("no new owner reads a job of the trust proven", async () => {
  const [owner, reader] = [await openOwner("owner"), await openOwner("reader")];
  const proven = await joinIsland(owner, () => HONEST, false);
  const fresh = await joinIsland(reader, () => HONEST);
  const operator = await signIn(coordinator, "op@example.com", { isOperator: true });
  const path = `/operator/standings/${owner.id}/tiny-chat`;
  const body = { state: "proven", reason: "known" };
  expect((await call(coordinator.url, operator, "PUT", path, body)).status).toBe(200);
  // Without a streak, each answer of the owner is audited if a reader exists.
  const job = { workload: "tiny-chat", input: { prompt: "A secret" }, trust: "proven" };
  const { body: made } = await api(client, "POST", "/jobs", job);
  expect((await api(client, "GET", `/jobs/${made.data.id}?wait=20`)).body.data.status).toBe("completed");
  expect(coordinator.runSql("SELECT id FROM audits WHERE id = ?", made.data.id)).toEqual([]);
  expect([proven.chats.length, fresh.readings.length]).toEqual([1, 0]);
  await Promise.all([proven, fresh].map(({ island }) => island[Symbol.asyncDispose]()));
});

it("a long answer without white space is read, and a reader whose context it exceeds is asked again", async () => {
  const [owner, reader] = [await openOwner("owner"), await openOwner("reader")];
  const first = await joinIsland(owner, () => "\u{9FFF}".repeat(1_000), false);
  const other = await FakeIsland.join(coordinator.url, reader.islandToken, {
    hostId: randomUUID(),
    features: ["chat.read"],
    slots: 4,
  });
  const texts: string[] = [];
  other.handle((frame) => {
    if (frame.type !== "assign") return;
    const { read } = frame.input as { read?: ChatRead };
    if (read === undefined) return other.send(...runFrames(frame, HONEST));
    texts.push(read.text);
    other.send(...beginFrames(frame), failedFrame(frame, 1, "context_length_exceeded"));
  });
  await chatUntil(first, 2);
  await expect.poll(() => texts.length).toBeGreaterThanOrEqual(2);
  for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(1_024);
  const verdicts = "SELECT DISTINCT verdict FROM audits WHERE owner_account_id = ?";
  await expect.poll(() => coordinator.runSql(verdicts, owner.id)).toEqual([{ verdict: "unclear" }]);
  await Promise.all([first.island, other].map((island) => island[Symbol.asyncDispose]()));
});

it("an audit goes on after a restart", async () => {
  const [owner, reader] = [await openOwner("owner"), await openOwner("reader")];
  const first = await joinIsland(owner, () => HONEST, false);
  const away = await joinIsland(
    reader,
    () => HONEST,
    true,
    () => false,
  );
  await chatUntil(first, 1);
  await expect.poll(() => away.readings.length).toBe(1);
  await coordinator.stop();
  await coordinator.start();
  const again = await joinIsland(reader, () => HONEST);
  await coordinator.withStore(async (store) => {
    await expect.poll(() => store.audits.due()).toEqual([]);
    expect(await store.audits.standings(0)).toMatchObject({ standings: [{ standing: { state: "new", streak: 1 } }] });
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
  });
  await Promise.all([first, away, again].map(({ island }) => island[Symbol.asyncDispose]()));
});

describe("what audits found out", () => {
  const verificationOf = async (jobId: string) => (await api(client, "GET", `/jobs/${jobId}`)).body.data.verification;
  const operate = (session: string, method: string, path: string, body?: unknown) =>
    call(coordinator.url, session, method, `/operator${path}`, body);
  const openOperator = (): Promise<string> => signIn(coordinator, "op@example.com", { isOperator: true });
  const islandIdOf = async (account: Account): Promise<string> =>
    (await api(account, "GET", "/islands")).body.data[0].id;

  /** Joins an Island of `owner`, which answers with `text`, and Islands of two readers. */
  async function joinAll(owner: Account, text: () => string) {
    const made = await joinIsland(owner, text, false);
    const readers = await Promise.all(
      ["first", "second"].map(async (name) => joinIsland(await openOwner(name), () => HONEST)),
    );
    const close = async (): Promise<void> => {
      await Promise.all([made, ...readers].map(({ island }) => island[Symbol.asyncDispose]()));
    };
    return { made, [Symbol.asyncDispose]: close };
  }

  /** Makes chats until the Island has answered one. Resolves with its id once its audit has ended. */
  async function auditedChat(made: { readonly chats: readonly Assign[] }): Promise<string> {
    await chatUntil(made, 1);
    const jobId = made.chats[0]?.jobId ?? "";
    await expect.poll(async () => (await verificationOf(jobId))?.verdict).toMatch(/consistent/);
    return jobId;
  }

  it("is shown with the job, with the owner's Islands, to their agents and to operators", async () => {
    const [owner, operator] = [await openOwner("owner"), await openOperator()];
    const { body: waiting } = await api(client, "POST", "/jobs", { workload: "base64", input: { data: "a" } });
    expect(await verificationOf(waiting.data.id)).toBeNull();
    await using world = await joinAll(owner, () => HONEST);
    const jobId = await auditedChat(world.made);
    expect(await verificationOf(jobId)).toMatchObject({ verdict: "consistent", refunded: false });
    expect((await verificationOf(jobId)).readers).toBeGreaterThanOrEqual(1);

    const count = world.made.chats.length;
    await expect
      .poll(async () => (await operate(operator, "GET", `/standings?account=${owner.id}`)).body.data[0]?.streak)
      .toBe(count);
    const hostId = await islandIdOf(owner);
    const audits = { consistent: count, inconsistent: 0, unclear: 0 };
    const shown = { cargo: "tiny-chat", state: "new", streak: count, reason: null };
    const standings = [{ ...shown, proven_after: PROVEN_AFTER, held_credits: expect.any(Number), audits }];
    expect((await api(owner, "GET", `/islands/${hostId}`)).body.data.standings).toEqual(standings);
    const asAgent = await call(coordinator.url, owner.islandToken, "GET", `/island/earnings?host_id=${hostId}`);
    expect(asAgent.body.data.standings).toEqual(standings);

    const { body } = await operate(operator, "GET", `/standings?account=${owner.id}&state=new`);
    const changed_at = expect.any(String);
    const known = { account_id: owner.id, account_email: "owner@example.com", ...shown, changed_at };
    expect([body.data, body.meta.total]).toEqual([[known], 1]);
    expect((await operate(operator, "GET", "/standings?state=trusted")).body.data).toEqual([]);
    expect((await operate(owner.key, "GET", "/standings")).status).toBe(403);
  });

  it("is overridden by an operator, whose trust pays held earnings at once", async () => {
    const [owner, operator] = [await openOwner("owner"), await openOperator()];
    await using world = await joinAll(owner, () => HONEST);
    const jobId = await auditedChat(world.made);
    const before = await creditsOf(owner);
    const set = (state: string, account = owner.id, cargo = "tiny-chat") =>
      operate(operator, "PUT", `/standings/${account}/${cargo}`, { state, reason: "known in person" });
    const trusted = await set("trusted");
    expect([trusted.status, trusted.body.data]).toMatchObject([200, { state: "trusted", reason: "known in person" }]);
    expect(await creditsOf(owner)).toBeGreaterThan(before);
    const answered = world.made.chats.length;
    await expect
      .poll(async () => {
        await chat(NOT_FOR_READERS);
        return (await verificationOf(world.made.chats.at(-1)?.jobId ?? "")) === null;
      })
      .toBe(true);
    expect(world.made.chats.length).toBeGreaterThan(answered);
    const { body } = await operate(operator, "GET", "/audit?action=account.standing");
    expect(body.data).toMatchObject([
      {
        target: { kind: "account", id: owner.id },
        before: { cargo: "tiny-chat", state: "new" },
        after: { cargo: "tiny-chat", state: "trusted", because: "known in person" },
      },
    ]);
    expect((await verificationOf(jobId)).refunded).toBe(false);

    const answers = [
      await set("new", "user_none"),
      await set("new", owner.id, "none"),
      await set("good"),
      await set("new", (await api({ ...owner, key: operator }, "GET", "/account")).body.data.id),
    ];
    expect(answers.map(({ status, body: { error } }) => [status, error.code])).toEqual([
      [404, "not_found"],
      [404, "cargo_not_found"],
      [422, "validation_failed"],
      [400, "bad_request"],
    ]);
  });

  it("is overridden by an operator, whose quarantine refunds clients and ends the owner's jobs", async () => {
    const [owner, operator] = [await openOwner("owner"), await openOperator()];
    await using world = await joinAll(owner, () => HONEST);
    const jobId = await auditedChat(world.made);
    const body = { state: "quarantined", reason: "a lie" };
    expect((await operate(operator, "PUT", `/standings/${owner.id}/tiny-chat`, body)).status).toBe(200);
    expect(await verificationOf(jobId)).toMatchObject({ verdict: "consistent", refunded: true });
    const { length } = world.made.chats;
    for (let count = 0; count < 10; count += 1) await chat();
    expect(world.made.chats).toHaveLength(length);
    const { standings } = (await api(owner, "GET", `/islands/${await islandIdOf(owner)}`)).body.data;
    expect(standings).toMatchObject([{ state: "quarantined", reason: "a lie", held_credits: 0 }]);
  });

  it("changes with a second audit of a job, which can find a lie", async () => {
    const [owner, operator] = [await openOwner("owner"), await openOperator()];
    accepted = LIE;
    await using world = await joinAll(owner, () => LIE);
    const jobId = await auditedChat(world.made);
    accepted = HONEST;
    const asked = await operate(operator, "POST", `/jobs/${jobId}/audit`);
    expect([asked.status, asked.body]).toEqual([202, { data: { id: jobId } }]);
    await expect.poll(async () => (await verificationOf(jobId)).verdict).toBe("inconsistent");
    expect(await verificationOf(jobId)).toMatchObject({ refunded: true });
    expect((await verificationOf(jobId)).readers).toBeGreaterThanOrEqual(3);
    const { body } = await operate(operator, "GET", `/standings?account=${owner.id}&state=quarantined`);
    expect(body.data).toMatchObject([{ cargo: "tiny-chat", reason: expect.stringContaining(jobId) }]);
    expect((await operate(operator, "GET", "/audit?action=job.audit")).body.data).toMatchObject([
      { target: { kind: "job", id: jobId } },
    ]);
  });

  it("is found again for the latest jobs of an Island", async () => {
    const [owner, operator] = [await openOwner("owner"), await openOperator()];
    await using world = await joinAll(owner, () => HONEST);
    await auditedChat(world.made);
    const hostId = await islandIdOf(owner);
    const { status, body } = await operate(operator, "POST", `/islands/${hostId}/audit`);
    const jobs = world.made.chats.map((each) => each.jobId).toReversed();
    expect([status, body]).toEqual([202, { data: { id: hostId, jobs } }]);
    await expect.poll(async () => (await verificationOf(jobs[0] ?? "")).readers).toBeGreaterThanOrEqual(2);
    expect((await operate(operator, "GET", "/audit?action=island.audit")).body.data).toMatchObject([
      { target: { kind: "island", id: hostId }, after: { jobs } },
    ]);
    expect((await operate(operator, "POST", `/islands/${randomUUID()}/audit`)).status).toBe(404);
  });

  it("is not found for a job that cannot be audited", async () => {
    const [owner, operator] = [await openOwner("owner"), await openOperator()];
    const refusalOf = async (jobId: string) => {
      const { status, body } = await operate(operator, "POST", `/jobs/${jobId}/audit`);
      return [status, body.error.message];
    };
    const { body: waiting } = await api(client, "POST", "/jobs", { workload: "base64", input: { data: "a" } });
    expect(await refusalOf("job_none")).toEqual([404, expect.stringContaining("job_none")]);
    expect(await refusalOf(waiting.data.id)).toEqual([400, expect.stringContaining("it is pending")]);
    const own = await joinIsland(client, () => HONEST, false);
    const paidAtOnce = await chat();
    expect(await verificationOf(paidAtOnce)).toBeNull();
    expect(await refusalOf(paidAtOnce)).toEqual([400, expect.stringContaining("paid at once")]);
    await own.island[Symbol.asyncDispose]();
    let text = HONEST;
    await using world = await joinAll(owner, () => text);
    const removed = await auditedChat(world.made);
    await api(client, "DELETE", `/jobs/${removed}/content`);
    expect(await refusalOf(removed)).toEqual([410, expect.stringContaining(removed)]);

    text = '{"a":1}';
    const json = await chat({ ...NOT_FOR_READERS, response_format: { type: "json_object" } });
    expect(await verificationOf(json)).toEqual({ verdict: "not_chosen", readers: 0, refunded: false });
    expect(await refusalOf(json)).toEqual([400, expect.stringContaining("only a text without JSON")]);
  });
});
