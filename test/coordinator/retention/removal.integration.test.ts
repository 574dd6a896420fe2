import { describe, expect, it } from "vitest";
import { beginFrames, failedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { call, collect, jobEvents, textOf, until } from "../../support/http/http.ts";
import { WebhookReceiver } from "../../support/servers/webhook-receiver.ts";
import {
  account,
  api,
  complete,
  coordinator,
  filesWith,
  finish,
  join,
  setUp,
  submit,
  untilInNoFile,
} from "./removal-world.ts";

setUp();

describe("DELETE /jobs/{id} of an ended job", () => {
  it.each(["", "?if_ended=refuse", "?if_ended=delete"])(
    "is refused with the query %j, and removes nothing",
    async (query) => {
      await using island = await join();
      const jobId = await complete(island, "MARK-PROMPT", "MARK-ANSWER");
      const before = (await api("GET", `/jobs/${jobId}`)).body;
      const { status, body } = await api("DELETE", `/jobs/${jobId}${query}`);
      expect([status, body.error]).toEqual([
        422,
        {
          code: "job_not_cancellable",
          message: "The job is already completed. To remove its input and output, use DELETE /jobs/{id}/content",
        },
      ]);
      expect((await api("GET", `/jobs/${jobId}`)).body).toEqual(before);
      expect((await api("GET", `/jobs/${jobId}/output`)).body.data.output).toBe("MARK-ANSWER");
    },
  );
});

describe("DELETE /jobs/{id}/content", () => {
  it("removes prompt and output from every file, and keeps status and usage", async () => {
    await using island = await join();
    const kept = await complete(island, "KEPT-PROMPT", "KEPT-ANSWER");
    const jobId = await complete(island, "MARK-PROMPT", "MARK-ANSWER");
    const before = (await api("GET", `/jobs/${jobId}`)).body.data;
    expect([filesWith("MARK-PROMPT"), filesWith("MARK-ANSWER")].map((files) => files.length > 0)).toEqual([true, true]);

    expect((await api("DELETE", `/jobs/${jobId}/content`)).body).toEqual({ data: { id: jobId, deleted: true } });
    const after = (await api("GET", `/jobs/${jobId}`)).body.data;
    const removed = { input_removed_at: expect.any(String), output_removed_at: expect.any(String) };
    expect(after).toEqual({ ...before, input: {}, output: null, ...removed });
    for (const path of ["stream", "output"]) {
      const { status, body } = await api("GET", `/jobs/${jobId}/${path}`);
      expect([status, body.error.code]).toEqual([410, "content_removed"]);
    }
    await untilInNoFile("MARK-");
    expect((await api("GET", `/jobs/${kept}`)).body.data).toMatchObject({
      input: { prompt: "KEPT-PROMPT" },
      output: "KEPT-ANSWER",
      input_removed_at: null,
      output_removed_at: null,
    });
    expect(filesWith("KEPT-ANSWER").length).toBeGreaterThan(0);
  });

  it("can be repeated, and is refused for other accounts", async () => {
    await using island = await join();
    const jobId = await complete(island, "MARK", "MARK");
    const other = await coordinator.createAccount("other@example.com", 1);
    const foreign = await call(coordinator.url, other.key, "DELETE", `/jobs/${jobId}/content`);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, "not_found"]);
    expect((await api("GET", `/jobs/${jobId}`)).body.data.output).toBe("MARK");
    const first = await api("DELETE", `/jobs/${jobId}/content`);
    const at = (await api("GET", `/jobs/${jobId}`)).body.data.output_removed_at;
    expect(await api("DELETE", `/jobs/${jobId}/content`)).toMatchObject({ status: 200, body: first.body });
    expect((await api("GET", `/jobs/${jobId}`)).body.data.output_removed_at).toBe(at);
  });

  it("is refused for a job that has not ended, and removes its output after a cancellation", async () => {
    await using island = await join();
    const jobId = await submit("MARK-PROMPT");
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "MARK-PART"));
    await island.next("ack");
    const { status, body } = await api("DELETE", `/jobs/${jobId}/content`);
    const message = `must be a job that has ended, but this job is running. Cancel it first (DELETE /jobs/{id})`;
    expect([status, body.error.code, body.error.details]).toEqual([
      422,
      "validation_failed",
      [{ path: "id", message }],
    ]);
    expect((await api("GET", `/jobs/${jobId}`)).body.data.status).toBe("running");
    expect((await api("DELETE", `/jobs/${jobId}`)).body.data.status).toBe("cancelled");
    expect((await api("GET", `/jobs/${jobId}/output`)).body.data.output).toBe("MARK-PART");
    expect((await api("DELETE", `/jobs/${jobId}/content`)).status).toBe(200);
    await untilInNoFile("MARK-");
  });

  it("does not cut off a reader that is following the job, but one that reconnects gets an error", async () => {
    await using island = await join();
    const jobId = await submit("Hi");
    const assign = await island.next("assign");
    const stream = jobEvents(coordinator.url, account.key, jobId);
    await stream.next();
    await finish(island, assign, "MARK-ANSWER");
    const deleted = api("DELETE", `/jobs/${jobId}/content`);
    const events = await collect(stream);
    expect([textOf(events), events.at(-1)?.event]).toEqual(["MARK-ANSWER", "done"]);
    await deleted;
    await expect(jobEvents(coordinator.url, account.key, jobId).next()).rejects.toThrow(/410.*content_removed/);
  });

  it("removes the message of an error, which may quote the prompt, and keeps its code", async () => {
    await using island = await join();
    const jobId = await submit("MARK-PROMPT");
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), { ...failedFrame(assign, 1, "cargo_failed"), message: "MARK-ERROR" } as never);
    await island.next("ack");
    await api("DELETE", `/jobs/${jobId}/content`);
    const { error, status } = (await api("GET", `/jobs/${jobId}`)).body.data;
    expect([status, error.code]).toEqual(["failed", "cargo_failed"]);
    await untilInNoFile("MARK-");
  });

  it("leaves repeats of the submission unchanged, so that they create no second job and no second charge", async () => {
    await using island = await join();
    const body = { workload: "tiny-chat", input: { prompt: "MARK" } };
    const post = () => call(coordinator.url, account.key, "POST", "/jobs", body, { "idempotency-key": "once" });
    const { id } = (await post()).body.data;
    await finish(island, await island.next("assign"), "MARK");
    await api("DELETE", `/jobs/${id}/content`);
    const again = await post();
    expect([again.status, again.body.data.id, again.body.data.input]).toEqual([201, id, {}]);
    expect((await api("GET", "/jobs")).body.meta.total).toBe(1);
  });

  it("leaves a pending webhook, which reports only status and usage", async () => {
    coordinator.withFlags({ webhookAllowPrivate: "true", webhookRetryS: 1 });
    await coordinator.stop();
    await coordinator.start();
    await using receiver = await WebhookReceiver.start();
    receiver.responses.push(500);
    await using island = await join();
    const jobId = await complete(island, "MARK-PROMPT", "MARK-ANSWER", { webhook_url: receiver.url });
    await receiver.next();
    await api("DELETE", `/jobs/${jobId}/content`);
    const { body } = await receiver.next();
    expect(body.data).toMatchObject({ id: jobId, status: "completed", output: null });
    await untilInNoFile("MARK-");
  });
});

describe("a removal interrupted by a crash", () => {
  it("is completed at the next start", async () => {
    await using island = await join();
    const jobId = await complete(island, "MARK-PROMPT", "MARK-ANSWER");
    await coordinator.withStore((store) => store.content.begin({ kind: "job", id: jobId }, Date.now()));
    await coordinator.stop();
    expect(filesWith("MARK-").length).toBeGreaterThan(0);
    await coordinator.start();
    await untilInNoFile("MARK-");
    expect((await api("GET", `/jobs/${jobId}`)).body.data.status).toBe("completed");
    await until(
      () => coordinator.withStore((store) => store.content.inFlight()),
      (subjects) => subjects.length === 0,
      "no removal is in progress",
    );
  });
});
