import { getLlama, LlamaChat, LlamaLogLevel, resolveChatWrapper, type LlamaContextSequence } from "node-llama-cpp";
import { systemClock } from "../../shared/clock.ts";
import { p50AndP99 } from "../harness/statistics.ts";
import { serveWorker } from "../harness/worker.ts";
import { machineMs } from "../load/frames.ts";
import type { WindowMetrics } from "../load/http-clients.ts";

/** Worker process: uses node-llama-cpp directly, without a network. */

export interface DirectShape {
  readonly modelPath: string;
  readonly contextSize: number;
  readonly sequences: number;
  readonly threads: number;
}
export interface DirectLoad {
  readonly clients: number;
  readonly question: string;
  /** Expected response to each prompt. */
  readonly expected: string;
  readonly warmUpMs: number;
  readonly ms: number;
  /** Pause after each response. */
  readonly pauseMs?: number;
}

/** A sequence, with the chat that uses it. */
interface Seat {
  readonly sequence: LlamaContextSequence;
  readonly chat: LlamaChat;
}

const MAX_WRONG = 0.05;
/** Number of wrong responses that is tolerated in a run with few responses. */
const FEW_WRONG = 20;
const free: Seat[] = [];
const waiting: ((seat: Seat) => void)[] = [];

const take = (): Promise<Seat> => {
  const seat = free.pop();
  return seat === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(seat);
};
const giveBack = (seat: Seat): void => {
  const next = waiting.shift();
  if (next === undefined) free.push(seat);
  else next(seat);
};

const api = {
  async load({ modelPath, contextSize, sequences, threads }: DirectShape): Promise<void> {
    const llama = await getLlama({
      gpu: false,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      maxThreads: threads,
      logLevel: LlamaLogLevel.error,
    });
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({ contextSize, sequences, threads });
    for (let index = 0; index < sequences; index += 1) {
      const sequence = context.getSequence();
      free.push({
        sequence,
        chat: new LlamaChat({ contextSequence: sequence, chatWrapper: resolveChatWrapper(model) }),
      });
    }
  },
  async run({
    clients,
    question,
    expected,
    warmUpMs,
    ms,
    pauseMs,
  }: DirectLoad): Promise<WindowMetrics & { wrong: number }> {
    const fromMs = machineMs() + warmUpMs;
    const untilMs = fromMs + ms;
    const [tookMs, firstMs]: [number[], number[]] = [[], []];
    let tokens = 0;
    let wrong = 0;
    let right = 0;
    const one = async (): Promise<void> => {
      while (machineMs() < untilMs) {
        const beganMs = machineMs();
        const seat = await take();
        let first: number | null = null;
        let count = 0;
        const { response } = await seat.chat.generateResponse(
          [
            { type: "user", text: question },
            { type: "model", response: [] },
          ],
          {
            temperature: 0,
            onResponseChunk: ({ text, tokens }) => {
              if (text !== "") first ??= machineMs() - beganMs;
              count += tokens.length;
            },
          },
        );
        giveBack(seat);
        // The released node-llama-cpp occasionally gives a sequence the token of another sequence:
        // island-agent/runtimes/llmcpp/batch-order.ts.
        if (response !== expected) {
          wrong += 1;
          continue;
        }
        right += 1;
        const endedMs = machineMs();
        if (endedMs >= fromMs && endedMs < untilMs) {
          tookMs.push(endedMs - beganMs);
          if (first !== null) firstMs.push(first);
          tokens += count;
        }
        if (pauseMs !== undefined) await systemClock.sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, one));
    if (wrong > Math.max(FEW_WRONG, MAX_WRONG * right))
      throw new Error(`${wrong} responses are wrong and ${right} are right`);
    const [took, first] = [p50AndP99(tookMs), p50AndP99(firstMs)];
    return {
      wrong,
      seconds: ms / 1_000,
      answered: tookMs.length,
      tokens,
      p50Ms: took.p50,
      p99Ms: took.p99,
      firstTokenP50Ms: first.p50,
      firstTokenP99Ms: first.p99,
    };
  },
};
export type LlamaDirectApi = typeof api;
serveWorker(api);
