import { describe, expect, it } from "vitest";
import { collect, jobEvents, until } from "../../support/http/http.ts";
import { unlessSeveral } from "../../support/network/several-coordinators.ts";
import { CONTAINER_FILE, ONNX_FILE, OTHER_MODEL } from "./cargo-builders.ts";
import {
  OFFERED,
  approve,
  as,
  coordinator,
  detail,
  island,
  openForEachTest,
  operate,
  OPERATOR,
  other,
  owner,
  post,
  statusOf,
  submit,
} from "./owned-cargos.ts";

openForEachTest();

describe("jobs of an unapproved Cargo", () => {
  it("run only on the Islands of its owner, even in a batch, and show that as the reason they wait", async () => {
    await post();
    await using theirs = await island(other);
    const { body } = await submit();
    const batch = await as(owner, "POST", "/jobs/batch", { workload: "some-onnx", inputs: [OFFERED.input] });
    const ids = [body.data.id, batch.body.data.jobs[0].id] as string[];
    const message = expect.stringContaining(
      "only your own Islands run it until it is approved, and none of them is online",
    ) as unknown;
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

  it("run on any Island after its approval, even if they were already waiting", async () => {
    await post(CONTAINER_FILE);
    await using theirs = await island(other);
    const request = { workload: "some-container", input: { text: "Hello" } };
    const { body } = await submit(owner, request);
    expect((await detail(body.data.id)).waiting.reason).toBe("own_islands_only");
    await approve("some-container");
    const { jobId, cargo } = await theirs.next("assign");
    expect([jobId, cargo.container?.network]).toEqual([body.data.id, true]);
  });

  it("run on any Island after an approval that pins it", async () => {
    const { digest, ...container } = CONTAINER_FILE.container;
    await post({ ...CONTAINER_FILE, container: { ...container, digest: null } });
    await using theirs = await island(other);
    const { body } = await submit(owner, { workload: "some-container", input: { text: "Hello" } });
    expect((await detail(body.data.id)).waiting.reason).toBe("own_islands_only");
    await approve("some-container", { imageDigest: digest });
    const { jobId, cargo } = await theirs.next("assign");
    expect([jobId, cargo.container?.digest]).toEqual([body.data.id, digest]);
  });

  it("run on any Island after the approval, even if they were assigned before it and the owner's Island refused them", async () => {
    await post();
    await using own = await island();
    const { body } = await submit();
    const { jobId, attempt } = await own.next("assign");
    await approve();
    await using theirs = await island(other);
    own.send(
      { type: "draining" },
      { type: "refused", jobId, attempt, code: "island_refused", message: "busy with my own work" },
    );
    expect((await theirs.next("assign")).jobId).toBe(body.data.id);
  });

  it(
    ...unlessSeveral(
      "stay on the owner's Islands after the approval of a later definition",
      "a moved job gets the current Cargo, as after a restart",
    ),
    async () => {
      await post();
      await using theirs = await island(other);
      const { body } = await submit();
      const model = { ...ONNX_FILE.model, url: OTHER_MODEL };
      await as(owner, "PATCH", "/cargos/some-onnx", { model });
      await approve();
      const later = (await submit()).body.data.id;
      expect((await theirs.next("assign")).jobId).toBe(later);
      expect((await detail(body.data.id)).waiting).toMatchObject({
        reason: "own_islands_only",
        message: expect.stringContaining("it was submitted for an earlier definition of the Cargo") as unknown,
      });
      await using own = await island();
      const { jobId, cargo } = await own.next("assign");
      expect([jobId, cargo.model?.url]).toEqual([body.data.id, ONNX_FILE.model.url]);
    },
  );

  it("stay limited to the owner's Islands after a restart", async () => {
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
  it(
    ...unlessSeveral(
      "keep the Cargo that they were accepted for",
      "a moved job gets the current Cargo, as after a restart",
    ),
    async () => {
      await post();
      const { body } = await submit();
      const next = { ...ONNX_FILE.model, url: OTHER_MODEL };
      await as(owner, "PATCH", "/cargos/some-onnx", { model: next, weights: "fp16" });
      await using host = await island();
      const { jobId, cargo } = await host.next("assign");
      expect([jobId, cargo.weights, cargo.model?.url]).toEqual([body.data.id, "q8", ONNX_FILE.model.url]);
      const later = (await submit()).body.data.id;
      expect((await host.next("assign", (frame) => frame.jobId === later)).cargo.model?.url).toBe(OTHER_MODEL);
    },
  );

  it("fail at once and cost nothing if they are waiting when the Cargo is deleted", async () => {
    await post();
    const { body } = await submit();
    await as(owner, "DELETE", "/cargos/some-onnx");
    const events = await collect(jobEvents(coordinator.url, owner.key, body.data.id));
    expect(events.at(-1)).toMatchObject({ event: "error", data: { code: "cargo_unavailable", retryable: false } });
    expect((await as(owner, "GET", "/account")).body.data.credits).toBe(1_000);
    expect((await submit()).status).toBe(404);
    expect(coordinator.fatal).toEqual([]);
  });

  it("continue on their Island, but get no other attempt", async () => {
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
      output: [{ label: "POSITIVE", score: 0.9 }],
      usage: { promptTokens: 0, completionTokens: 0 },
      timings: { loadMs: 0, firstOutputMs: null, runMs: 1 },
    });
    await first.next("ack");
    expect(await detail(ids[0])).toMatchObject({ status: "completed", output: [{ label: "POSITIVE", score: 0.9 }] });
    first.cut();
    const lost = await until(
      () => detail(ids[1]),
      ({ status }) => status === "failed",
      "the lost job fails",
    );
    expect(lost.error).toMatchObject({ code: "cargo_unavailable" });
    expect(coordinator.fatal).toEqual([]);
  });

  it("fail when the operator disables the Cargo, even a shipped one, and run again after its approval", async () => {
    const { body } = await submit(owner, { workload: "phi-4", input: { prompt: "Hello" } });
    const isGone = async () => (await statusOf("/cargos/phi-4")) === 404;
    await operate((cargos) => cargos.setDisabled(OPERATOR, "phi-4", true), isGone);
    const ended = await until(
      () => detail(body.data.id),
      ({ status }) => status !== "pending",
      "its job ends",
    );
    expect(ended).toMatchObject({ status: "failed", error: { code: "cargo_unavailable" } });
    await approve("phi-4");
    expect((await submit(owner, { workload: "phi-4", input: { prompt: "Hello" } })).status).toBe(201);
  });

  it("fail after a restart if their account may no longer run the Cargo", async () => {
    await post();
    await approve();
    const [theirs, own] = [(await submit(other)).body.data.id, (await submit()).body.data.id];
    await as(owner, "PATCH", "/cargos/some-onnx", { model: { ...ONNX_FILE.model, url: OTHER_MODEL } });
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
