import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClusterUnavailableError } from "../../../../shared/errors.ts";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import { Api, BodyReader } from "../api.ts";
import { DONE, makeJob, WatchedFeed } from "../scripted-jobs.ts";

const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });

describe("a job of another coordinator", () => {
  let api: Api;
  beforeEach(async () => {
    api = await Api.open();
  });
  afterEach(() => api[Symbol.asyncDispose]());

  it("ends the stream without an event when the feed replica is cut, so that the client resumes at its position", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([token("a"), token("b")]);
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    await reader.until('"b"}\n\n');
    feed.cut();
    expect(await reader.toEnd()).not.toMatch(/done|error/);
    expect(feed.listeners).toBe(0);
    const next = new WatchedFeed("job_1");
    next.push([token("a")]);
    next.push([token("x")], 2);
    api.jobs.feeds.set("job_1", next);
    const again = await api.call("GET", "/jobs/job_1/stream", { headers: { "last-event-id": "2.0" } });
    expect([again.status, again.body]).toMatchObject([422, { error: { code: "position_lost" } }]);
  });

  it("streams the content of a feed replica that is cut for memory, and then ends without an event", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([token("a")]);
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    await reader.until('"a"}\n\n');
    feed.push([token("b")]);
    feed.cut("memory");
    expect(await reader.toEnd()).toMatch(/"b"}\n\n$/);
    expect(feed.listeners).toBe(0);
  });

  it("returns a chat with the whole text of the feed that follows a cut one", async () => {
    const messages = [{ role: "user", content: "Hi" }];
    api.jobs.onSubmit = (feed, job) => {
      feed.push([token("lost")]);
      const next = new WatchedFeed(job.id);
      next.push([token("whole")]);
      setImmediate(() => {
        api.jobs.feeds.set(job.id, next);
        feed.cut();
        next.end(DONE);
      });
    };
    const response = await api.call("POST", "/chat/completions", { body: { model: "tiny", messages } });
    expect([response.status, response.body]).toMatchObject([200, { choices: [{ message: { content: "whole" } }] }]);
  });

  it("returns 503 with Retry-After when the coordinator cannot be reached", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    api.jobs.failure = new ClusterUnavailableError();
    const response = await api.call("DELETE", "/jobs/job_1");
    expect([response.status, response.headers.get("retry-after"), response.body]).toMatchObject([
      503,
      "2",
      { error: { code: "cluster_unavailable", retry_after: 2 } },
    ]);
  });
});
