import type { Clock } from "../../../shared/clock.ts";
import type { EngineConnection } from "./engine-connection.ts";
import type { EngineModel } from "./engine-profile.ts";
import { readChatStream } from "./chat-stream.ts";

/** Numbers of equal prompts that are sent together. */
const STEPS = [2, 4, 8] as const;
const TOKENS = 64;
const MAX_MEASURE_MS = 120_000;

/**
 * Measures how many runs an engine works on together: sends 1, 2, 4 and 8 equal short prompts. An engine that queues
 * the last one begins it about one whole response later than the first.
 * @returns 1, 2, 4 or 8. @throws {JobFailure} if a single run fails; `signal.reason`.
 */
export async function measureSlots(
  connection: Pick<EngineConnection, "post">,
  model: EngineModel,
  clock: Pick<Clock, "monotonicMs">,
  signal: AbortSignal,
): Promise<number> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_MEASURE_MS)]);
  const messages = [{ role: "user", content: "Count from 1 to 100, separated by commas." }];
  const body = { model: model.id, messages, max_tokens: TOKENS, temperature: 0, stream: true };
  /** Returns the times to the first token and to the end. */
  const run = async (): Promise<{ readonly firstMs: number; readonly totalMs: number }> => {
    const beganMs = clock.monotonicMs();
    let firstMs: number | null = null;
    const note = (): void => {
      firstMs ??= clock.monotonicMs() - beganMs;
    };
    const response = await connection.post("/v1/chat/completions", body, model, limit);
    const options = { modelId: model.id, reasons: false, stop: [], onOutput: note, onWorking: note };
    await readChatStream(response, options).catch((error: unknown) => {
      throw limit.aborted ? (limit.reason as Error) : error;
    });
    const totalMs = clock.monotonicMs() - beganMs;
    return { firstMs: firstMs ?? totalMs, totalMs };
  };
  // The first run may load the model.
  await run();
  const alone = await run();
  let slots = 1;
  for (const count of STEPS) {
    const runs = await Promise.allSettled(Array.from({ length: count }, run));
    signal.throwIfAborted();
    const ended = runs.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    // The engine refused some, or is too slow to go on.
    if (ended.length < count) break;
    const lastFirstMs = Math.max(...ended.map(({ firstMs }) => firstMs));
    if (lastFirstMs - alone.firstMs > 0.7 * (alone.totalMs - alone.firstMs)) break;
    slots = count;
  }
  return slots;
}
