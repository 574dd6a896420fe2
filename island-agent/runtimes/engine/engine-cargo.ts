import type { CargoManifest } from "../../../shared/cargo.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { CargoGone, type LoadedCargo, type RunRequest, type RunResult, type RunWatcher } from "../runtime.ts";
import { readChat } from "../text-input.ts";
import type { AttachedEngine, ServedModel } from "./attached-engine.ts";
import { chatRequestTo } from "./chat-request.ts";
import { readChatStream } from "./chat-stream.ts";
import { runTextTask } from "./text-tasks.ts";

/** The engine has the model in its own memory, which the owner has already given away. */
const NO_MEMORY = { ramBytes: 0, vramBytes: 0 };

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

  async function run(
    request: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher: RunWatcher = {},
  ): Promise<RunResult> {
    signal.throwIfAborted();
    if (isGone) throw new CargoGone(`The engine at ${connection.url} no longer serves ${model.id}`);
    return engine.use(signal, () => runNow(request, onOutput, signal, watcher));
  }

  async function runNow(
    { input, resume }: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    { onWorking = () => undefined }: RunWatcher,
  ): Promise<RunResult> {
    const { profile } = engine;
    if (model.task !== null) {
      const { reranking } = profile;
      return runTextTask(model.task, { connection, modelId: model.id, reranking }, input, signal);
    }
    if (resume !== null && profile.resume === null) {
      throw new JobFailure("cannot_resume", `${profile.name} cannot continue the text of another Island`);
    }
    const chat = readChat(input);
    const { path, body } = chatRequestTo(profile, model, chat, resume);
    const response = await connection.post(path, body, signal);
    const options = { modelId: model.id, reasons: cargo.reasoning === true, stop: chat.stop, onOutput, onWorking };
    const result = await readChatStream(response, options).catch((error: unknown) => {
      response.destroy();
      throw signal.aborted ? (signal.reason as Error) : error;
    });
    return resume === null ? result : { ...result, usage: withResumed(result.usage, resume.tokens) };
  }

  return {
    memory: NO_MEMORY,
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
function withResumed({ promptTokens, completionTokens }: RunResult["usage"], resumed: number): RunResult["usage"] {
  return { promptTokens: Math.max(0, promptTokens - resumed), completionTokens: completionTokens + resumed };
}
