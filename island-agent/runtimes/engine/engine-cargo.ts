import type { CargoManifest } from "../../../shared/cargo.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { TEXT_TASKS } from "../../../shared/text-task.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { CargoGone, type LoadedCargo, type RunRequest, type RunResult, type RunWatcher } from "../runtime.ts";
import { readChat } from "../text-input.ts";
import type { AttachedEngine, ServedModel } from "./attached-engine.ts";
import { chatRequestTo } from "./chat-request.ts";
import { readChatStream } from "./chat-stream.ts";
import { runTextTask } from "./text-tasks.ts";

/** Returns a Cargo that an engine runs. */
export function engineCargo(
  engine: Pick<AttachedEngine, "connection" | "profile" | "slots" | "use">,
  served: Pick<ServedModel, "model" | "gone">,
  cargo: CargoManifest,
): LoadedCargo {
  const { model } = served;
  const { connection } = engine;
  let isGone = false;
  const closed = Promise.withResolvers<void>();
  const gone = Promise.race([served.gone, closed.promise]).then(() => {
    isGone = true;
  });

  function assertServed(): void {
    if (isGone) throw new CargoGone(`The engine at ${connection.url} no longer serves ${model.id}`);
  }

  async function run(
    request: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher: RunWatcher = {},
  ): Promise<RunResult> {
    signal.throwIfAborted();
    assertServed();
    const { onWorking = () => undefined } = watcher;
    return engine.use(signal, onWorking, (runSignal, onProgress) => {
      const note = (): void => {
        onWorking();
        onProgress();
      };
      const output = (item: OutputItem): void => {
        onOutput(item);
        onProgress();
      };
      return runNow(request, output, runSignal, note);
    });
  }

  async function runNow(
    { input, resume, cacheKey }: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    onWorking: () => void,
  ): Promise<RunResult> {
    // The engine may have been detached while the run waited for a slot.
    assertServed();
    const { profile } = engine;
    const task = TEXT_TASKS.find((each) => each === cargo.task);
    if (task !== undefined) {
      const { reranking } = profile;
      return runTextTask(task, { connection, model, reranking, onWorking }, input, signal);
    }
    if (resume !== null && profile.resume === null) {
      throw new JobFailure("cannot_resume", `${profile.name} cannot continue the text of another Island`);
    }
    const chat = readChat(input);
    // Such jobs are only assigned to Islands whose model had no engine at that time.
    if (chat.read !== null)
      throw new JobFailure("runtime_unavailable", "Engines cannot read answers", { retryable: true });
    const { path, body } = chatRequestTo(profile, model, chat, { resume, cacheKey });
    const response = await connection.post(path, body, model, signal).catch((error: unknown) => {
      if (!(error instanceof JobFailure) || error.code !== "context_length_exceeded") throw error;
      // vLLM and SGLang refuse a limit larger than the rest of the context. Without one, this rest is the limit.
      return connection.post(path, { ...body, max_tokens: null }, model, signal);
    });
    const { stop, toolUse } = chat;
    const options = { modelId: model.id, reasons: cargo.reasoning === true, stop, toolUse, onOutput, onWorking };
    const result = await readChatStream(response, options).catch((error: unknown) => {
      response.destroy();
      throw signal.aborted ? (signal.reason as Error) : error;
    });
    return resume === null ? result : { ...result, usage: withResumed(result.usage, resume.tokens) };
  }

  return {
    // The owner has already given the engine's memory away.
    memory: { ramBytes: 0, vramBytes: 0 },
    get concurrency() {
      return engine.slots;
    },
    gone,
    run,
    [Symbol.asyncDispose]() {
      closed.resolve();
      return Promise.resolve();
    },
  };
}

/** The engine counts the continued text as prompt, Atoll as completion. */
function withResumed(usage: RunResult["usage"], resumed: number): RunResult["usage"] {
  const { promptTokens, completionTokens } = usage;
  return {
    ...usage,
    promptTokens: Math.max(0, promptTokens - resumed),
    completionTokens: completionTokens + resumed,
  };
}
