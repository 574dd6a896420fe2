import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { MESSAGES } from "../scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const chat = (body: Record<string, unknown>) =>
  api.call("POST", "/chat/completions", { body: { messages: MESSAGES, ...body } });

describe("POST /chat/completions", () => {
  it("reports a missing member", async () => {
    const { body } = await chat({ messages: undefined });
    expect(body.error.details).toEqual([{ path: "messages", message: "is missing" }]);
  });

  it("refuses an answer to be read, which only coordinators send", async () => {
    const { status, body } = await chat({ read: { text: "a", has_end: true, at: [0] } });
    expect([status, body.error.details]).toEqual([422, [expect.objectContaining({ path: "read" })]]);
  });

  describe.each([false, true])("stream %j", (stream) => {
    it("returns a final 503 with the reason when no Island can run it", async () => {
      const message = "No Island can run this job: 1 Island offers llmcpp, but it lacks 44.9 GiB of VRAM";
      api.jobs.onSubmit = (feed) => feed.end({ type: "error", code: "no_island_fits", message, retryable: false });
      const { status, headers, body } = await chat({ stream });
      expect([status, headers.get("retry-after"), headers.get("x-should-retry")]).toEqual([503, null, "false"]);
      expect(body.error).toEqual({
        message,
        type: "server_error",
        param: null,
        code: "no_island_available",
        retryable: false,
      });
    });

    it("returns a final 409 for a job that was cancelled before output", async () => {
      api.jobs.onSubmit = (_feed, { id, accountId }) => void api.jobs.cancel(accountId, id);
      const { status, headers, body } = await chat({ stream });
      expect([status, headers.get("x-should-retry"), body.error.code]).toEqual([409, "false", "job_failed"]);
      expect(body.error).toMatchObject({ job_error: "cancelled", message: expect.stringContaining("was cancelled") });
    });
  });
});
