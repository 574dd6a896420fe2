import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { sendChats, seeded, type Fleet } from "../../bench/fleet/fleets.ts";
import { ModelledIsland, type Chat } from "../../bench/fleet/modelled-island.ts";
import { runScheduler } from "../../bench/fleet/run-fleet.ts";
import { systemClock } from "../../shared/clock.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame, outputFrame } from "../support/network/attempt-frames.ts";
import { call } from "../support/http/http.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { makeIslandState } from "../support/network/frames.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";

const CHATS = 300;
const SEED = 1;

/** Three Islands, of which each is slower than the one before. A token takes 2 to 12 ms. */
const FLEET: Fleet = {
  name: "sockets",
  slugs: ["tiny-chat"],
  chats: CHATS,
  traffic: { meanOutput: 40, meanPrompt: 20, maxTurns: 1, systemTokens: 0 },
  islands: [1, 2.5, 6].map((factor, nth) => ({
    id: randomUUID(),
    nth,
    hardwareClass: `class-${nth}`,
    slots: 4,
    speeds: { alphaMs: 1.6 * factor, betaMs: 0.4 * factor, readMsPerToken: 0.2 * factor, loadMs: 0 },
    slugs: ["tiny-chat"],
    memoryModels: 1,
  })),
};
const LOAD = 0.5;

/** Runs the chats through a real coordinator. Each modelled Island has a real session. Returns tokens by Island. */
async function runOverSockets(): Promise<Map<string, number>> {
  await using coordinator = await TestCoordinator.open();
  const account = await coordinator.createAccount("client@example.com", 1_000_000, { concurrentJobs: CHATS });
  const clock = {
    monotonicMs: () => systemClock.monotonicMs(),
    after: (ms: number, task: () => void) => systemClock.schedule(ms, task),
  };
  const chats = new Map<string, Chat>();
  const assigned = new Map<string, { readonly assign: Assign; readonly island: FakeIsland }>();
  const tokens = new Map<string, number>();
  const all = Promise.withResolvers<void>();
  let ended = 0;

  const listener = {
    loadedChanged: () => undefined,
    firstOutput({ id }: Chat): void {
      const { assign, island } = assigned.get(id) ?? expect.fail(id);
      island.send(outputFrame(assign, 1, "x"));
    },
    ended({ id, outputTokens }: Chat, { id: islandId }: ModelledIsland): void {
      const { assign, island } = assigned.get(id) ?? expect.fail(id);
      const rest = Array.from({ length: outputTokens - 1 }, () => "x");
      island.send(outputFrame(assign, 2, ...rest), finishedFrame(assign, 3, { completionTokens: outputTokens }));
      tokens.set(islandId, (tokens.get(islandId) ?? 0) + outputTokens);
      sender.ended(chats.get(id) ?? expect.fail(id));
      ended += 1;
      if (ended === CHATS) all.resolve();
    },
  };
  const islands: FakeIsland[] = [];
  for (const [nth, plan] of FLEET.islands.entries()) {
    const modelled = new ModelledIsland(plan, clock, listener, seeded(SEED * 1_000 + nth));
    const island = await FakeIsland.join(coordinator.url, account.islandToken, {
      hostId: plan.id,
      slots: plan.slots,
      state: makeIslandState({ loaded: ["tiny-chat"] }),
    });
    island.handle((frame) => {
      if (frame.type !== "assign") return;
      const id = /chat_\d+/u.exec(JSON.stringify(frame.input))?.[0] ?? expect.fail("no id");
      assigned.set(id, { assign: frame, island });
      island.send(...beginFrames(frame));
      modelled.start(chats.get(id) ?? expect.fail(id));
    });
    islands.push(island);
  }
  const sender = sendChats(
    FLEET,
    LOAD,
    SEED,
    (ms, task) => void clock.after(ms, task),
    clock.monotonicMs,
    (chat) => {
      chats.set(chat.id, chat);
      const input = { prompt: `${chat.id} `.padEnd(4 * chat.promptTokens, "a"), max_tokens: 400 };
      void call(coordinator.url, account.key, "POST", "/jobs", { workload: "tiny-chat", input }).then(({ status }) => {
        if (status !== 201) all.reject(new Error(`status ${status}`));
      });
    },
  );
  await all.promise;
  for (const island of islands) await island[Symbol.asyncDispose]();
  return tokens;
}

function partsOf(tokens: ReadonlyMap<string, number>): number[] {
  const all = [...tokens.values()].reduce((sum, each) => sum + each, 0);
  return FLEET.islands.map(({ id }) => (tokens.get(id) ?? 0) / all);
}

it("gives most of the work to the fastest of three Islands, over real sessions as in the simulation", async () => {
  const { ended } = await runScheduler(FLEET, LOAD, SEED);
  const simulated = new Map<string, number>();
  for (const { islandId, tokens } of ended) simulated.set(islandId, (simulated.get(islandId) ?? 0) + tokens);
  const parts = partsOf(await runOverSockets());
  const expected = partsOf(simulated);
  process.stdout.write(`parts of the work: ${JSON.stringify({ sockets: parts, simulated: expected })}\n`);
  for (const [fastest = 0, , slowest = 1] of [parts, expected]) {
    expect(fastest, JSON.stringify({ parts, expected })).toBeGreaterThan(0.5);
    expect(slowest, JSON.stringify({ parts, expected })).toBeLessThan(0.2);
  }
});
