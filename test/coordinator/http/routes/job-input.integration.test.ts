import { expect, it } from "vitest";
import { Api } from "../api.ts";
import { makeJob } from "../scripted-jobs.ts";

it("POST /jobs/{id}/input answers with the receipt of the line", async () => {
  await using api = await Api.open();
  api.jobs.add(makeJob({ id: "job_a", accountId: api.accountId, state: "running" }));
  const { status, body } = await api.call("POST", "/jobs/job_a/input", { body: { seq: 1, data: { move: "e4" } } });
  expect([status, body.data]).toMatchObject([200, { id: "job_a", seq: 1, taken: true, repeated: false }]);
});
