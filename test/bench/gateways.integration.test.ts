import { expect, it } from "vitest";
import { openEngine } from "../../bench/baselines/gateways.ts";
import { startClients } from "../../bench/harness/loads.ts";
import { scriptedText } from "../../bench/load/frames.ts";
import type { ClientLoad, PacedMetrics } from "../../bench/load/http-clients.ts";

/** Measures a load for a short time. The clients reject each response that is not as expected. */
async function measure(load: ClientLoad): Promise<PacedMetrics> {
  await using clients = await startClients();
  await clients.call("start", load);
  const metrics = await clients.call("measure", { ms: 100 });
  await clients.call("stop", undefined);
  return metrics;
}

it("the scripted engine streams, paces and answers its chat", async () => {
  await using engine = await openEngine();
  await engine.script({ tokens: 4, gapMs: 0 });
  const load = engine.load(2, 4);
  expect((await measure(load)).answered).toBeGreaterThan(0);
  const body = { ...(load.body as object), stream: false };
  const whole = await measure({ ...load, body, expect: { status: 200, text: scriptedText(4) } });
  expect(whole).toMatchObject({ tokens: 0 });

  await engine.script({ tokens: 4, gapMs: 50 });
  const { gapP50Ms, longestGapMs } = await measure({ ...load, isPaced: true });
  expect(gapP50Ms).toBeGreaterThan(25);
  expect(longestGapMs).toBeGreaterThanOrEqual(gapP50Ms);
});

it("a client reports a chat that has lost a token", async () => {
  await using engine = await openEngine();
  await engine.script({ tokens: 3, gapMs: 0 });
  await expect(measure(engine.load(1, 4))).rejects.toThrow('streamed " w0 w1 w2"');
});
