import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { call } from "../../support/http/http.ts";
import { Network } from "../../support/network/network.ts";
import { ResponseValidator, type OpenApiDocument } from "../../support/http/openapi.ts";
import { HAS_EVERY_ROUND, soakRounds } from "../../support/soak-rounds.ts";
import { FuzzClient } from "./fuzz-client.ts";
import { requestsOf } from "./document-requests.ts";
import type { Hints } from "./schema-values.ts";

const SEED = 20_261_121;
/**
 * Number of requests until the heap reaches its size under this load. On 2026-11-21 it had 190 MiB after 1,000
 * requests, 225 MiB after 3,000 and 230 MiB after 9,000.
 */
const WARM_UP = soakRounds(4_000);
const REQUESTS = soakRounds(5_000);
const AT_ONCE = 8;
const SAMPLES = 15;
const ALLOWED_GROWTH = 0.1;

const slug = fc.constantFrom("tiny-chat", "tiny-chat", "tiny-chat", "text-statistics", "nowhere");
const prompt = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const input = fc.oneof(
  { weight: 6, arbitrary: fc.record({ prompt, max_tokens: fc.integer({ min: 1, max: 64 }) }) },
  { weight: 2, arbitrary: fc.record({ text: prompt }) },
  { weight: 1, arbitrary: fc.dictionary(prompt, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }) },
);
// A name in the reserved top-level domain, so that nothing leaves the machine.
const webhookUrl = fc.constantFrom(
  "https://hooks.invalid/a",
  "https://hooks.invalid/b",
  "http://127.0.0.1/",
  "ftp://x",
);
const webhookSecret = fc.constantFrom("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_");
// The schema cannot express the minimum of one micro-credit.
const price = fc.integer({ min: 0, max: 2_000 }).map((halves) => halves / 2);
const eventId = fc.constantFrom("0", "1", "99999999999999999999", "-1");

const hints: Hints = {
  "SubmitJob.workload": slug,
  "SubmitJob.input": input,
  "SubmitJob.webhook_url": webhookUrl,
  "SubmitJob.webhook_secret": webhookSecret,
  "SubmitBatch.workload": slug,
  "SubmitBatch.inputs": fc.array(input, { minLength: 1, maxLength: 3 }),
  "SubmitBatch.webhook_url": webhookUrl,
  "SubmitBatch.webhook_secret": webhookSecret,
  "ChatCompletionRequest.model": slug,
  "EmbeddingsRequest.model": fc.constantFrom("multilingual-e5-small", "nowhere"),
  "CreateConversation.model": slug,
  "UpdateConversation.model": slug,
  "CreateCargo.price_per_job": price,
  "ChangeCargo.price_per_job": price,
  "CreateApiKey.scopes": fc.constantFrom("read", "write", "read,write", ",", "admin"),
  status: fc.constantFrom("queued", "cancelled,failed", ",", "queued,queued"),
  // Longer waits would only delay the run.
  wait: fc.constantFrom(0, 0, 0, 1, -1, 61, 0.5),
  "idempotency-key": fc.oneof(fc.constantFrom("one", "two", "x".repeat(255), "x".repeat(256)), fc.uuid()),
  "last-event-id": eventId,
  last_event_id: eventId,
};

it(`gives documented responses to ${REQUESTS} generated requests, without a 500 or a memory leak`, async () => {
  const flags = ["--chat-wait-s", "0.05", "--public-requests-per-minute", "1000000"];
  // The heap limit is small, so that the measurement shows live memory and not uncollected garbage.
  const env = { NODE_OPTIONS: "--max-old-space-size=96 --max-semi-space-size=4" };
  await using network = await Network.open(flags, env);
  const email = "fuzz@example.org";
  const limits = { concurrentJobs: 100_000, concurrentStreams: 1_000 };
  const { key: owner } = network.createAccount(email, 1_000_000, limits);
  const { key: reader } = await network.manage<{ key: string }>("key", "create", "--email", email, "--scopes", "read");
  const { body: document } = await call(network.url, owner, "GET", "/openapi.json");
  const ids = await makeThings(network.url, owner);

  const check = new ResponseValidator(document as OpenApiDocument);
  using client = new FuzzClient(network.url, check, { keys: { owner, reader }, ids, connections: AT_ONCE });
  const requests = fc.sample(requestsOf(document as OpenApiDocument, hints), {
    seed: SEED,
    numRuns: WARM_UP + REQUESTS,
  });
  await client.sendAll(requests.slice(0, WARM_UP), AT_ONCE);
  const before = await residentBytes(network);
  client.statuses.clear();
  await client.sendAll(requests.slice(WARM_UP), AT_ONCE);
  const after = await residentBytes(network);

  const responses = [...client.statuses.values()].reduce((sum, count) => sum + count, 0);
  // oxlint-disable-next-line no-console -- shows the coverage of the requests
  console.info(
    `${responses} responses by status`,
    Object.fromEntries([...client.statuses].sort(([a], [b]) => a - b)),
    `resident: ${Math.round(before / 1_024)} MiB before, ${Math.round(after / 1_024)} MiB after`,
  );
  expect(client.problems).toEqual([]);
  expect(responses).toBe(REQUESTS);
  // After a tenth of the warm-up the heap is still growing.
  if (HAS_EVERY_ROUND) expect(after / before).toBeLessThan(1 + ALLOWED_GROWTH);
}, 180_000);

/** Creates resources of all kinds. Returns their ids by the path that creates them. */
async function makeThings(url: string, key: string): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>([["/api/v1/models", ["tiny-chat"]]]);
  const make = async (path: string, body: unknown): Promise<void> => {
    const made = await call(url, key, "POST", path, body);
    expect([path, made.status, made.status === 201 ? "" : made.body]).toEqual([path, 201, ""]);
    const kind = `/api/v1${path}`;
    ids.set(kind, [...(ids.get(kind) ?? []), made.body.data.id as string]);
  };
  for (let each = 0; each < 5; each += 1) {
    const input = { prompt: "hello" };
    await make("/jobs", { workload: "tiny-chat", input });
    await make("/jobs/batch", { workload: "tiny-chat", inputs: [input, input] });
    await make("/conversations", { model: "tiny-chat" });
    await make("/api-keys", { name: "spare", scopes: "read" });
  }
  return ids.set("/api/v1/cargos", ["tiny-chat"]);
}

/** Returns the resident memory in KiB, as the median of samples during requests to /health. */
async function residentBytes({ url, coordinator }: Network): Promise<number> {
  const samples: number[] = [];
  for (let each = 0; each < SAMPLES; each += 1) {
    expect((await call(url, null, "GET", "/health")).status).toBe(200);
    const status = await readFile(`/proc/${coordinator.process.pid}/status`, "utf8");
    samples.push(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]));
  }
  return samples.sort((a, b) => a - b)[Math.floor(SAMPLES / 2)] as number;
}
