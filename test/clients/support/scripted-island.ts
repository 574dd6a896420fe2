import type { ChatInput } from "../../../shared/chat-input.ts";
import { AGENT_FEATURES } from "../../../shared/features.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { Assign, FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame } from "../../support/attempt-frames.ts";
import { FakeIsland } from "../../support/fake-island.ts";
import { makeHello, makeIslandState } from "../../support/frames.ts";

/** What the model "writes": a text, a tool call, or a text that does not end until the job is cancelled or released. */
export type ScriptedAnswer =
  | { readonly text: string }
  | { readonly call: { readonly name: string; readonly arguments: object } }
  | { readonly hold: string };
export type Script = (input: ChatInput) => ScriptedAnswer;

export const DEFAULT_TEXT = "All done.";
const SLOTS = 8;

/** An Island that answers chats of the Cargo "scripted" by the script of the test. */
export class ScriptedIsland implements AsyncDisposable {
  /** Inputs of the chats that it was given, in order. */
  readonly inputs: ChatInput[] = [];
  #script: Script = () => ({ text: DEFAULT_TEXT });
  readonly #island: FakeIsland;
  readonly #held = new Map<string, Assign>();
  readonly #timer: NodeJS.Timeout;

  private constructor(island: FakeIsland, heartbeatMs: number) {
    this.#island = island;
    island.handle((frame) => this.#receive(frame));
    this.#timer = setInterval(() => island.send({ type: "heartbeat", state: makeIslandState() }), heartbeatMs);
  }

  /** @param category the only one whose Cargos it runs. */
  static async join(url: string, token: string, category: "text"): Promise<ScriptedIsland> {
    const island = await FakeIsland.dial(url, token);
    const policy = {
      network: false,
      containerGpu: false,
      runtimes: { allow: null, deny: [] },
      categories: { allow: [category], deny: [] },
      approvedOnly: false,
    };
    island.send(makeHello({ slots: SLOTS, policy, features: [...AGENT_FEATURES] }));
    const { heartbeatMs } = await island.next("welcome");
    return new ScriptedIsland(island, heartbeatMs);
  }

  /** Takes another script, and forgets the inputs so far. */
  script(script: Script): void {
    this.inputs.length = 0;
    this.#script = script;
  }

  /** Ends the held answers. */
  release(): void {
    for (const assign of this.#held.values())
      this.#island.send({ ...finishedFrame(assign, 2, { completionTokens: 1 }) });
    this.#held.clear();
  }

  #receive(frame: FromCoordinator): void {
    if (frame.type === "assign") this.#answer(frame);
    if (frame.type !== "cancel") return;
    const held = this.#held.get(frame.jobId);
    if (held === undefined) return;
    this.#held.delete(frame.jobId);
    this.#island.send({ type: "cancelled", jobId: held.jobId, attempt: held.attempt, seq: 2 });
  }

  #answer(assign: Assign): void {
    const { jobId, attempt } = assign;
    const input = assign.input as ChatInput;
    this.inputs.push(input);
    const answer = this.#script(input);
    const items = itemsOf(answer, jobId);
    this.#island.send(...beginFrames(assign), { type: "output", jobId, attempt, seq: 1, items });
    if ("hold" in answer) return void this.#held.set(jobId, assign);
    const finishReason = "call" in answer ? "tool_calls" : "stop";
    this.#island.send({
      type: "finished",
      jobId,
      attempt,
      seq: 2,
      finishReason,
      usage: { promptTokens: 5, completionTokens: items.length },
      timings: { loadMs: 1, firstOutputMs: 1, runMs: 10 },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#island[Symbol.asyncDispose]();
  }
}

/** Calls a tool in the first answer whose request offers it, and writes `text` in all others. */
export function callOnce(name: string, args: object, text = DEFAULT_TEXT): Script {
  return ({ messages = [], tools }) => {
    const isOffered = tools?.some((tool) => tool.function.name === name) === true;
    const isAnswered = messages.some(({ role }) => role === "tool");
    return isOffered && !isAnswered ? { call: { name, arguments: args } } : { text };
  };
}

function itemsOf(answer: ScriptedAnswer, jobId: string): OutputItem[] {
  if ("call" in answer) {
    const { name, arguments: args } = answer.call;
    const id = `call_${jobId.slice(-8)}`;
    return [
      { type: "tool_call", index: 0, id, name, arguments: "", count: 1 },
      { type: "tool_call", index: 0, arguments: JSON.stringify(args), count: 1 },
    ];
  }
  const text = "text" in answer ? answer.text : answer.hold;
  return (text.match(/\S+\s*/g) ?? []).map((content) => ({ type: "token", content, count: 1 }));
}
