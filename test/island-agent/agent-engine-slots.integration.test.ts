import { expect, it } from "vitest";
import { AgentWorld, FIRST_RETRY_MS } from "./agent-world.ts";
import { makeHardware } from "./builders.ts";
import { NO_ENGINES } from "./no-engines.ts";

it("an Island offers its engines' slots in addition to those of its runtimes, unless its owner set them", async () => {
  let slots = 1;
  await using world = await AgentWorld.open({
    engines: { ...NO_ENGINES, slots: () => slots },
    offer: { slots: null, hardware: makeHardware() },
  });
  const { agent, coordinator } = world;
  const helloOf = async (count: number) => {
    const session = await coordinator.session(count);
    const hello = await session.next("hello");
    await session.welcome();
    await session.processed();
    return [hello.slots, hello.runtimeSlots];
  };
  expect(await helloOf(1)).toEqual([5, 4]);
  slots = 16;
  agent.noteEngines();
  await world.retry(1, FIRST_RETRY_MS);
  expect(await helloOf(2)).toEqual([20, 4]);
  agent.change({ slots: 2, hardware: makeHardware() });
  agent.noteEngines();
  expect(agent.status().slots).toBe(2);
});
