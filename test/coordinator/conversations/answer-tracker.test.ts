import { beforeEach, describe, expect, it } from "vitest";
import { answerTracker } from "../../../coordinator/conversations/answer-tracker.ts";
import { JobFeed, type Feed, type FeedEnding } from "../../../coordinator/jobs/feed.ts";
import type { JobApi } from "../../../coordinator/jobs/job-service.ts";
import type { AnswerEnding } from "../../../coordinator/store/conversations.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { ClusterUnavailableError, ServiceError } from "../../../shared/errors.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const DONE: FeedEnding = {
  type: "done",
  usage: { promptTokens: 1, completionTokens: 1 },
  finishReason: "stop",
  creditsUsedMicro: 1,
  output: undefined,
};
const IDS = { accountId: "user_1", conversationId: "conv_1", answerId: "msg_1" };
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("an answer whose feed is cut because its job continues elsewhere without a part of it", () => {
  let clock: ManualClock;
  let feed: JobFeed;
  /** Results of opening the feed, in order. The last result repeats. */
  let opened: (Feed | Error)[];
  let job: object | Error;
  let endings: AnswerEnding[];
  let fatal: unknown[];
  let tracker: ReturnType<typeof answerTracker>;
  beforeEach(async () => {
    clock = new ManualClock();
    feed = new JobFeed("job_1");
    [opened, endings, fatal, job] = [[feed], [], [], { state: "completed", slug: "chat", input: {} }];
    const jobs: Pick<JobApi, "submit" | "openFeed" | "get"> = {
      submit: async () => ({ record: { id: "job_1" }, openFeed: async () => feed }) as never,
      get: async () => (job instanceof Error ? Promise.reject(job) : (job as never)),
      openFeed: async () => {
        const next = opened.length > 1 ? opened.shift() : opened[0];
        return next instanceof Error ? Promise.reject(next) : (next as Feed);
      },
    };
    const store: Pick<Store["conversations"], "endAnswer" | "unfinishedAnswers"> = {
      endAnswer: async (ending) => endings.push(ending) > 0,
      unfinishedAnswers: async () => [{ ...IDS, jobId: "job_1" }],
    };
    const env = testEnv({ chatWaitMs: 1 }, { clock, onFatal: (error) => fatal.push(error) });
    tracker = answerTracker(env, store as Store["conversations"], jobs as JobApi);
  });
  async function cut(...next: (Feed | Error)[]): Promise<void> {
    await tracker.begin(IDS, { accountId: IDS.accountId, slug: "chat", input: {} });
    feed.push([{ type: "token", content: "lost", count: 1 }]);
    opened = next;
    feed.cut();
    await settle();
  }

  it("continues when storage and other coordinators are available again", async () => {
    const again = new JobFeed("job_1");
    await cut(new ServiceError("storage_unavailable", "away"), new ClusterUnavailableError(), again);
    expect([endings, fatal]).toEqual([[], []]);
    for (let tries = 0; tries < 2; tries += 1) {
      clock.advance(2_000);
      await settle();
    }
    again.push([{ type: "token", content: "kept", count: 1 }]);
    again.end(DONE);
    await settle();
    expect(endings).toMatchObject([{ state: "completed", content: "kept", finishReason: "stop" }]);
    expect([fatal, clock.pendingTimers]).toEqual([[], 0]);
  });

  it("ends like its job if the output was removed, and fails if the job is gone", async () => {
    job = { state: "completed", usage: null, finishReason: "length", creditsUsedMicro: 1, error: null };
    await cut(new ServiceError("content_removed", "removed"));
    expect(endings).toMatchObject([{ state: "completed", content: "", finishReason: "length", error: null }]);
    [feed, endings, job] = [new JobFeed("job_1"), [], new ServiceError("not_found", "none")];
    await cut(new ServiceError("not_found", "none"));
    expect(endings).toMatchObject([{ state: "failed", content: "", error: { code: "internal" } }]);
    expect(fatal).toEqual([]);
  });

  it("is left to other coordinators if this one stops", async () => {
    await cut(new ServiceError("storage_unavailable", "away"));
    tracker.close();
    clock.advance(2_000);
    await settle();
    expect([endings, fatal, clock.pendingTimers]).toEqual([[], [], 0]);
  });

  it("ends even if it is adopted after that", async () => {
    [opened, job] = [
      [new ServiceError("content_removed", "removed")],
      { state: "cancelled", slug: "chat", input: {}, error: null },
    ];
    expect(await tracker.resume()).toBe(1);
    await settle();
    expect(endings).toMatchObject([{ state: "cancelled", content: "" }]);
  });
});
