import { randomUUID } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readShippedCargos } from "../../../coordinator/catalog/load-catalog.ts";
import { DATABASE_FILE } from "../../../coordinator/coordinator.ts";
import { OperatorCargos } from "../../../coordinator/catalog/operator-cargos.ts";
import { systemClock } from "../../../shared/clock.ts";
import { FakeIsland } from "../../support/fake-island.ts";
import { collect, call, jobEvents, until } from "../../support/http.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";
import { CHAT_FILE, CONTAINER_FILE, ONNX_FILE } from "./cargo-builders.ts";

const RUNTIMES = (["llmcpp", "onnx", "container"] as const).map((type) => ({ type, version: "test" }));
const OFFERED = { workload: "some-onnx", input: { text: "Hello" } };

let coordinator: TestCoordinator;
let owner: { id: string; key: string; islandToken: string };
let other: { id: string; key: string; islandToken: string };
beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  owner = await coordinator.createAccount("owner@example.com");
  other = await coordinator.createAccount("other@example.com");
});
afterEach(() => coordinator[Symbol.asyncDispose]());

const as = (account: { key: string } | null, method: string, path: string, body?: unknown) =>
  call(coordinator.url, account?.key ?? null, method, path, body);
const post = (file: object = ONNX_FILE, by = owner) => as(by, "POST", "/cargos", file);
const submit = (by = owner, body: object = OFFERED) => as(by, "POST", "/jobs", body);
const detail = async (jobId: string, by = owner) => (await as(by, "GET", `/jobs/${jobId}`)).body.data;
const island = (of = owner) =>
  FakeIsland.join(coordinator.url, of.islandToken, { hostId: randomUUID(), runtimes: RUNTIMES });

/** Works beside the running coordinator, as `coordinator cargo` does; then waits until that has noticed. */
async function operate(act: (cargos: OperatorCargos) => Promise<unknown>, isNoticed: () => Promise<boolean>) {
  await coordinator.withStore(async (store) => {
    const shipped = await readShippedCargos("catalog", "tiny-chat");
    await act(new OperatorCargos(store.catalog, shipped, systemClock));
  });
  await until(isNoticed, (noticed) => noticed, "the coordinator notices");
}
const statusOf = async (path: string) => (await as(null, "GET", path)).status;
const approve = (slug = "some-onnx") =>
  operate(
    (cargos) => cargos.approve(slug),
    async () => (await statusOf(`/cargos/${slug}`)) === 200,
  );

describe("an owner's Cargo", () => {
  it("is answered as it was written, enabled and not approved", async () => {
    const { status, body } = await post();
    expect([status, body.data]).toMatchObject([
      201,
      { ...ONNX_FILE, enabled: true, approved: false, revision: 1, run_limit_s: 300, wait_limit_s: 3_600 },
    ]);
    expect((await as(owner, "GET", "/account/cargos")).body.data).toEqual([body.data]);
    const page = { data: [], meta: { total: 0, limit: 1, offset: 0 } };
    expect((await as(other, "GET", "/account/cargos?limit=1")).body).toEqual(page);
  });

  it("is listed among its owner's by page, and forgotten but for its slug when it is deleted", async () => {
    for (const slug of ["c", "a", "b"]) await post({ ...ONNX_FILE, slug });
    const { body } = await as(owner, "GET", "/account/cargos?limit=2&offset=1");
    expect([body.data.map(({ slug }: { slug: string }) => slug), body.meta]).toEqual([
      ["b", "c"],
      { total: 3, limit: 2, offset: 1 },
    ]);
    await as(owner, "DELETE", "/cargos/b");
    const left = new Database(join(coordinator.directory, DATABASE_FILE), { readonly: true });
    expect(left.prepare("SELECT slug, file <> '' AS hasFile FROM cargos ORDER BY slug").raw().all()).toEqual([
      ["a", 1],
      ["b", 0],
      ["c", 1],
    ]);
    left.close();
  });

  it("is seen by slug and run by its owner only, until it is approved", async () => {
    await post();
    const { body } = await as(owner, "GET", "/cargos/some-onnx");
    expect(body.data).toMatchObject({ approved: false, input_schema: ONNX_FILE.input_schema });
    for (const by of [other, null]) {
      const answer = await as(by, "GET", "/cargos/some-onnx");
      expect([answer.status, answer.body.error.code]).toEqual([404, "cargo_not_found"]);
    }
    const listed = await as(owner, "GET", "/cargos?runtime_type=onnx&category=text");
    expect(listed.body.cargos.map(({ slug }: { slug: string }) => slug)).not.toContain("some-onnx");
    expect([(await submit()).status, (await submit(other)).status]).toEqual([201, 404]);

    await approve();
    expect((await submit(other)).status).toBe(201);
    const after = await as(null, "GET", "/cargos?runtime_type=onnx&category=text");
    expect(after.body.cargos.map(({ slug }: { slug: string }) => slug)).toContain("some-onnx");
  });

  it("chats for its owner only, before it is approved", async () => {
    await post({ ...CHAT_FILE, required_vram_mb: 0 });
    expect((await as(owner, "GET", "/models/some-chat")).status).toBe(200);
    expect((await as(other, "GET", "/models/some-chat")).status).toBe(404);
    const body = { model: "some-chat", messages: [{ role: "user", content: "Hello" }] };
    const refused = await as(other, "POST", "/chat/completions", body);
    expect([refused.status, refused.body.error.code]).toEqual([404, "cargo_not_found"]);
    await using host = await island();
    const answer = as(owner, "POST", "/chat/completions", body);
    const { jobId, attempt } = await host.next("assign");
    host.send({
      type: "failed",
      jobId,
      attempt,
      seq: 1,
      code: "model_invalid",
      message: "no such model",
      retryable: false,
    });
    expect((await answer).body.error).toMatchObject({ code: "job_failed", job_error: "model_invalid" });
  });

  it("is not another's to change or delete", async () => {
    await post();
    await approve();
    const answers = [
      await as(other, "PATCH", "/cargos/some-onnx", { name: "Mine" }),
      await as(other, "DELETE", "/cargos/some-onnx"),
      await as(owner, "PATCH", "/cargos/tiny-chat", { name: "Mine" }),
      await as(owner, "DELETE", "/cargos/tiny-chat"),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
      answers.map(() => [404, "cargo_not_found"]),
    );
  });

  it("needs the scope write, and a slug that nobody has", async () => {
    const { secret } = await coordinator.withStore((_, accounts) => accounts.createKey(owner.id, { scopes: ["read"] }));
    expect((await as({ key: secret }, "POST", "/cargos", ONNX_FILE)).status).toBe(403);
    expect((await as(null, "POST", "/cargos", ONNX_FILE)).status).toBe(401);
    await post();
    for (const [file, by] of [
      [ONNX_FILE, other],
      [ONNX_FILE, owner],
      [{ ...ONNX_FILE, slug: "tiny-chat" }, owner],
    ] as const) {
      const { status, body } = await post(file, by);
      expect([status, body.error.code]).toEqual([422, "slug_taken"]);
    }
    await as(owner, "DELETE", "/cargos/some-onnx");
    expect([(await post(ONNX_FILE, other)).status, (await post()).status]).toEqual([422, 201]);
  });

  const LONG = Array.from({ length: 9 }, () => "a".repeat(8_000));
  const refusals: [what: string, fields: object, path: string][] = [
    ["a price above the bound", { price_per_job: 1_001 }, "price_per_job"],
    ["a run without end", { run_limit_s: 3_601 }, "run_limit_s"],
    ["a model of the coordinator's own", { model: { ...ONNX_FILE.model, url: "/models/tiny.gguf" } }, "model.url"],
    ["a model on this machine", { model: { ...ONNX_FILE.model, url: "https://localhost/a" } }, "model.url"],
    ["a schema from elsewhere", { input_schema: { $ref: "https://a.example" } }, "input_schema.$ref"],
    ["a slow pattern", withPattern("^(a+)+$"), "input_schema.properties.text.pattern"],
    ["a large example", { example_input: { text: "a".repeat(16_384) } }, "example_input"],
    ["too much in all", { ...CONTAINER_FILE, container: { ...CONTAINER_FILE.container, command: LONG } }, ""],
    ["a field that there is not", { colour: "red" }, ""],
  ];
  it("has bounds, and can have nothing that is wrong", async () => {
    for (const [what, fields, path] of refusals) {
      const { status, body } = await post({ ...ONNX_FILE, ...fields });
      expect([what, status, body.error.details?.[0].path]).toEqual([what, 422, path]);
    }
  });

  it("loses its approval by a change of what runs or is read, by a higher price and by less memory, by nothing else", async () => {
    await post();
    await approve();
    const patch = async (fields: object) => (await as(owner, "PATCH", "/cargos/some-onnx", fields)).body.data.approved;
    const free = { licence: "ISC", price_per_job: 0.05, run_limit_s: 60, required_ram_mb: 1_024, required_vram_mb: 64 };
    expect(await patch(free)).toBe(true);
    expect((await as(null, "GET", "/cargos/some-onnx")).body.data).toMatchObject({ price_per_job: 0.05 });
    const changes = [
      { price_per_job: 0.2 },
      { model: { ...ONNX_FILE.model, url: "hf:owner/other" } },
      { weights: null },
      { name: "Tiny Chat" },
      { description: "Official" },
      { required_ram_mb: 1 },
      { required_vram_mb: 0 },
    ];
    for (const change of changes) {
      expect([change, await patch(change)]).toEqual([change, false]);
      expect(await statusOf("/cargos/some-onnx")).toBe(404);
      await approve();
    }
    expect((await as(owner, "GET", "/account/cargos")).body.data[0]).not.toHaveProperty("weights");
  });

  it("is checked as a whole when it is changed", async () => {
    await post();
    const { status, body } = await as(owner, "PATCH", "/cargos/some-onnx", { example_input: {} });
    expect([status, body.error.details]).toEqual([422, [{ path: "example_input.text", message: "is required" }]]);
  });

  it("loses no change to another that is made at the same time", async () => {
    await post();
    const fields = [{ name: "New" }, { description: "Better" }, { licence: "ISC" }, { run_limit_s: 9 }];
    await Promise.all(fields.map((each) => as(owner, "PATCH", "/cargos/some-onnx", each)));
    const [cargo] = (await as(owner, "GET", "/account/cargos")).body.data;
    expect(cargo).toMatchObject({ name: "New", description: "Better", licence: "ISC", run_limit_s: 9, revision: 5 });
  });

  it("checks every input by its schema", async () => {
    await post();
    const { status, body } = await submit(owner, { workload: "some-onnx", input: { text: "" } });
    expect([status, body.error.details]).toEqual([
      422,
      [{ path: "input.text", message: "must NOT have fewer than 1 characters" }],
    ]);
  });

  it("travels to the Island with what its runtime needs, and without network before it is approved", async () => {
    await post(CONTAINER_FILE);
    await using host = await island();
    await submit(owner, { workload: "some-container", input: { text: "Hello" } });
    const { cargo } = await host.next("assign");
    expect(cargo.container).toEqual({ ...CONTAINER_FILE.container, network: false });
  });
});

describe("jobs of a Cargo that is not approved", () => {
  it("run on the Islands of its owner only, also those of a batch, and say so", async () => {
    await post();
    await using theirs = await island(other);
    const { body } = await submit();
    const batch = await as(owner, "POST", "/jobs/batch", { workload: "some-onnx", inputs: [OFFERED.input] });
    const ids = [body.data.id, batch.body.data.jobs[0].id] as string[];
    const message = "only your own Islands run it until it is approved, and none of them is online";
    for (const id of ids) {
      const { status, waiting } = await until(
        () => detail(id),
        (job) => job.waiting.reason !== "account_limit",
        "the gate has let it through",
      );
      expect([status, waiting]).toMatchObject(["pending", { reason: "own_islands_only", message }]);
    }
    await using own = await island();
    expect([(await own.next("assign")).jobId, (await own.next("assign")).jobId].toSorted()).toEqual(ids.toSorted());
    expect(theirs.pending("assign")).toEqual([]);
  });

  it("run on any Island from its approval on, those too that wait already", async () => {
    await post(CONTAINER_FILE);
    await using theirs = await island(other);
    const request = { workload: "some-container", input: { text: "Hello" } };
    const { body } = await submit(owner, request);
    expect((await detail(body.data.id)).waiting.reason).toBe("own_islands_only");
    await approve("some-container");
    const { jobId, cargo } = await theirs.next("assign");
    expect([jobId, cargo.container?.network]).toEqual([body.data.id, true]);
  });

  it("do not run elsewhere by the approval of what its owner has made of it since", async () => {
    await post();
    await using theirs = await island(other);
    const { body } = await submit();
    const model = { ...ONNX_FILE.model, url: "hf:owner/other" };
    await as(owner, "PATCH", "/cargos/some-onnx", { model });
    await approve();
    const later = (await submit()).body.data.id;
    expect((await theirs.next("assign")).jobId).toBe(later);
    expect((await detail(body.data.id)).waiting.reason).toBe("own_islands_only");
    await using own = await island();
    const { jobId, cargo } = await own.next("assign");
    expect([jobId, cargo.model?.url]).toEqual([body.data.id, ONNX_FILE.model.url]);
  });

  it("are limited to them after a restart too", async () => {
    await post();
    const { body } = await submit();
    await coordinator.stop();
    await coordinator.start();
    await using theirs = await island(other);
    expect((await detail(body.data.id)).waiting.reason).toBe("own_islands_only");
    expect(theirs.pending("assign")).toEqual([]);
  });
});

describe("jobs of a Cargo that changes", () => {
  it("keep the Cargo that they were accepted for", async () => {
    await post();
    const { body } = await submit();
    const next = { ...ONNX_FILE.model, url: "hf:owner/other" };
    await as(owner, "PATCH", "/cargos/some-onnx", { model: next, weights: "fp16" });
    await using host = await island();
    const { jobId, cargo } = await host.next("assign");
    expect([jobId, cargo.weights, cargo.model?.url]).toEqual([body.data.id, "q8", ONNX_FILE.model.url]);
    const later = (await submit()).body.data.id;
    expect((await host.next("assign", (frame) => frame.jobId === later)).cargo.model?.url).toBe("hf:owner/other");
  });

  it("fail at once when they wait and it is deleted, and cost nothing", async () => {
    await post();
    const { body } = await submit();
    await as(owner, "DELETE", "/cargos/some-onnx");
    const events = await collect(jobEvents(coordinator.url, owner.key, body.data.id));
    expect(events.at(-1)).toMatchObject({ event: "error", data: { code: "cargo_unavailable", retryable: false } });
    expect((await as(owner, "GET", "/account")).body.data.credits).toBe(1_000);
    expect((await submit()).status).toBe(404);
    expect(coordinator.fatal).toEqual([]);
  });

  it("go on when an Island has them, but get no other attempt", async () => {
    coordinator.withFlags({ islandGraceS: "0" });
    await coordinator.stop();
    await coordinator.start();
    await post();
    await using first = await island();
    const ids = [(await submit()).body.data.id, (await submit()).body.data.id];
    const assigned = [await first.next("assign"), await first.next("assign")];
    await as(owner, "PATCH", "/cargos/some-onnx", { enabled: false });
    const { jobId, attempt } = assigned[0]!;
    first.send({ type: "started", jobId, attempt });
    first.send({
      type: "finished",
      jobId,
      attempt,
      seq: 1,
      finishReason: "stop",
      output: { label: "POSITIVE" },
      usage: { promptTokens: 0, completionTokens: 0 },
      timings: { loadMs: 0, firstOutputMs: null, runMs: 1 },
    });
    await first.next("ack");
    expect(await detail(ids[0])).toMatchObject({ status: "completed", output: { label: "POSITIVE" } });
    first.cut();
    const lost = await until(
      () => detail(ids[1]),
      ({ status }) => status === "failed",
      "the lost job fails",
    );
    expect(lost.error).toMatchObject({ code: "cargo_unavailable" });
    expect(coordinator.fatal).toEqual([]);
  });

  it("fail when the operator disables it, a shipped one too; approval brings it back", async () => {
    const { body } = await submit(owner, { workload: "phi-4", input: { prompt: "Hello" } });
    const isGone = async () => (await statusOf("/cargos/phi-4")) === 404;
    await operate((cargos) => cargos.disable("phi-4"), isGone);
    const ended = await until(
      () => detail(body.data.id),
      ({ status }) => status !== "pending",
      "its job ends",
    );
    expect(ended).toMatchObject({ status: "failed", error: { code: "cargo_unavailable" } });
    await approve("phi-4");
    expect((await submit(owner, { workload: "phi-4", input: { prompt: "Hello" } })).status).toBe(201);
  });

  it("fail after a restart when their account may not run it any more", async () => {
    await post();
    await approve();
    const [theirs, own] = [(await submit(other)).body.data.id, (await submit()).body.data.id];
    await as(owner, "PATCH", "/cargos/some-onnx", { model: { ...ONNX_FILE.model, url: "hf:owner/other" } });
    expect((await detail(theirs, other)).status).toBe("pending");
    await coordinator.stop();
    await coordinator.start();
    const failed = await until(
      () => detail(theirs, other),
      ({ status }) => status !== "pending",
      "it fails",
    );
    expect(failed).toMatchObject({ status: "failed", error: { code: "cargo_unavailable" } });
    expect((await detail(own)).status).toBe("pending");
  });
});

describe("OperatorCargos", () => {
  const operator = <T>(use: (cargos: OperatorCargos) => Promise<T>): Promise<T> =>
    coordinator.withStore(async (store) =>
      use(new OperatorCargos(store.catalog, await readShippedCargos("catalog", "tiny-chat"), systemClock)),
    );

  it("lists everything with its state", async () => {
    await post();
    await post({ ...ONNX_FILE, slug: "off", enabled: false });
    const lines = await operator(async (cargos) => {
      await cargos.disable("phi-4");
      await cargos.importFile(JSON.stringify({ ...ONNX_FILE, slug: "ours" }));
      return cargos.list();
    });
    const states = lines.map(({ slug, status, origin }) => `${slug} ${status} ${origin}`);
    expect(states).toEqual(
      expect.arrayContaining([
        "some-onnx waiting owned",
        "off off owned",
        "phi-4 disabled shipped",
        "ours offered imported",
        "tiny-chat offered shipped",
      ]),
    );
  });

  it("does not approve what its owner has changed since it was looked at", async () => {
    await post();
    await as(owner, "PATCH", "/cargos/some-onnx", { model: { ...ONNX_FILE.model, url: "hf:owner/evil" } });
    const stale = operator((cargos) => cargos.approve("some-onnx", 1));
    await expect(stale).rejects.toMatchObject({ code: "bad_request" });
    expect(await statusOf("/cargos/some-onnx")).toBe(404);
  });

  it("imports for everybody, and replaces what it imported", async () => {
    const price = async () => (await as(null, "GET", "/cargos/ours")).body.data?.price_per_job;
    for (const price_per_job of [1, 2]) {
      const text = JSON.stringify({ ...ONNX_FILE, slug: "ours", price_per_job });
      await operate(
        (cargos) => cargos.importFile(text),
        async () => (await price()) === price_per_job,
      );
    }
    expect((await submit(other, { ...OFFERED, workload: "ours" })).status).toBe(201);
  });

  it("refuses slugs that are not its own, files that are wrong, and Cargos that there are not", async () => {
    await post();
    const codes: string[] = [];
    const acts: ((cargos: OperatorCargos) => Promise<unknown>)[] = [
      (cargos) => cargos.importFile(JSON.stringify(ONNX_FILE)),
      (cargos) => cargos.importFile(JSON.stringify({ ...CHAT_FILE, slug: "tiny-chat" })),
      (cargos) => cargos.importFile("{"),
      (cargos) => cargos.approve("none"),
      (cargos) => cargos.disable("none"),
    ];
    for (const act of acts) {
      await operator(act).catch((error: { code: string }) => codes.push(error.code));
    }
    expect(codes).toEqual(["slug_taken", "slug_taken", "validation_failed", "cargo_not_found", "cargo_not_found"]);
  });
});

function withPattern(pattern: string): object {
  return { input_schema: { type: "object", properties: { text: { type: "string", pattern } } } };
}
