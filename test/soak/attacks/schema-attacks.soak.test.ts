import { describe, expect, it } from "vitest";
import { CONTAINER_FILE } from "../../coordinator/catalog/cargo-builders.ts";
import { atFileEnd } from "../../support/file-end.ts";
import { HAS_EVERY_ROUND, soakRounds } from "../../support/soak-rounds.ts";
import { AttackWorld, type Impact } from "./attack-world.ts";

/** Maximum CPU time of a turn of the event loop: twice the goal, because other processes share the caches of its core. */
const MAX_TURN_MS = 100;
/** Maximum increase of another account's p99. Only full runs check it, because they need an idle machine. */
const MAX_P99_MS = 50;
const CALM_RESPONSES = soakRounds(1_000);
/** Repeats of an attack. In a full run, the attacker reaches its limit of requests per minute first. */
const MAX_REPEATS = HAS_EVERY_ROUND ? 1_000 : 6;
const CONCURRENCY = 2;
/** Repeats before the measurement, which start threads and compile code. */
const WARM_UP = 2;

const world = await AttackWorld.open();
atFileEnd(() => world[Symbol.asyncDispose]());

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
const objectOf = (properties: object) => ({ type: "object", properties, required: Object.keys(properties) });

/** Repeats a request, `CONCURRENCY` at a time, until one gets 429. Returns the other responses' distinct statuses. */
async function repeat(repeats: number, request: (index: number) => Promise<number>): Promise<number[]> {
  const statuses = new Set<number>();
  let [count, isRefused] = [0, false];
  const one = async (): Promise<void> => {
    while (!isRefused && count < repeats) {
      const status = await request((count += 1));
      if (status === 429) isRefused = true;
      else statuses.add(status);
    }
  };
  await Promise.all(range(CONCURRENCY).map(one));
  return [...statuses];
}

/** Sends chats whose own Island answers with `text`. Returns their statuses. */
function chats(repeats: number, schema: (index: number) => object, text: string): Promise<number[]> {
  const attacker = world.attacker();
  return repeat(repeats, async (index) => {
    // An Island whose answer was rejected gets no jobs for some time, so each chat has a new one.
    await using _island = await world.join(attacker, text);
    const format = { type: "json_schema", json_schema: { name: "answer", schema: schema(index) } };
    const messages = [{ role: "user", content: "x" }];
    const body = { model: "tiny-chat", max_tokens: 2_000, messages, response_format: format };
    return (await attacker.api("POST", "/chat/completions", body)).status;
  });
}

/** Submits batches to an own Cargo, and cancels them. Returns the statuses of the submissions. */
async function batches(repeats: number, inputSchema: object, inputs: readonly object[]): Promise<number[]> {
  const attacker = world.attacker();
  const slug = `expensive-${repeats}`;
  const cargo = { ...CONTAINER_FILE, slug, input_schema: inputSchema, example_input: {}, price_per_job: 0 };
  expect(await attacker.api("POST", "/cargos", cargo)).toMatchObject({ status: 201 });
  return repeat(repeats, async () => {
    const { status, data } = await attacker.api("POST", "/jobs/batch", { workload: slug, inputs });
    if (status === 201) await attacker.api("DELETE", `/jobs/batch/${data.id}`);
    return status;
  });
}

const list = { type: "array", items: { enum: range(500).map((each) => [each]) } };
const ATTACKS: readonly (readonly [
  title: string,
  statuses: readonly number[],
  act: (repeats: number) => Promise<number[]>,
])[] = [
  [
    "an answer that is compared with an enum of many values",
    [500],
    (repeats) => {
      const schema = objectOf({ a: { enum: range(250).map((each) => `value ${each}`) } });
      return chats(repeats, () => schema, JSON.stringify({ a: range(120_000) }));
    },
  ],
  [
    "patterns that backtrack",
    [500],
    (repeats) => {
      const schema = (index: number) => objectOf({ a: { type: "string", pattern: `^(?=(a+)+$)a*${index}$` } });
      return chats(repeats, schema, JSON.stringify({ a: `${"a".repeat(40)}!` }));
    },
  ],
  [
    "large JSON",
    [200],
    (repeats) =>
      chats(repeats, () => objectOf({ a: { type: "array" } }), JSON.stringify({ a: range(120_000).map(() => "a") })),
  ],
  [
    "batches of inputs for a Cargo with an expensive schema",
    [201],
    (repeats) => {
      const properties = Object.fromEntries(range(7).map((each) => [`p${each}`, list]));
      const inputs = range(82).map(() => ({ p0: range(2_000).map(() => [499]) }));
      return batches(repeats, { type: "object", properties }, inputs);
    },
  ],
];

function show(title: string, { responses, p50Ms, p99Ms, turnMs }: Impact): void {
  const figures = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms of ${responses} responses`;
  process.stdout.write(`${title}: ${figures}; longest turn ${turnMs.toFixed(1)} ms of CPU time\n`);
}

describe("GET /account of another account", () => {
  it.each(ATTACKS)("is not held up by %s", async (title, expected, act) => {
    await act(WARM_UP);
    const [calm] = await world.impactOf(() => world.responses(CALM_RESPONSES));
    show("without an attack", calm);
    const [impact, statuses] = await world.impactOf(() => act(MAX_REPEATS));
    show(title, impact);

    expect(statuses).toEqual(expected);
    expect(impact.turnMs).toBeLessThan(MAX_TURN_MS);
    if (HAS_EVERY_ROUND) expect(impact.p99Ms - calm.p99Ms).toBeLessThan(MAX_P99_MS);
  });
});
