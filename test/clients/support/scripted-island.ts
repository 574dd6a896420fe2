import type { ChatInput } from "../../../shared/chat-input.ts";
import { AGENT_FEATURES } from "../../../shared/features/features.ts";
import type { FinishReason, OutputItem } from "../../../shared/output.ts";
import type { Assign, FromCoordinator } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello, makeIslandState } from "../../support/network/frames.ts";

/**
 * Output of the model, which is a text, a tool call, or a text that does not end until the job is cancelled or
 * released.
 */
export type ScriptedOutput =
  | { readonly text: string }
  | { readonly call: { readonly name: string; readonly arguments: object } }
  | { readonly hold: string };
export type Script = (input: ChatInput) => ScriptedOutput;

export const DEFAULT_TEXT = "All done.";
const SLOTS = 8;

/** An Island that completes chats of the Cargo "scripted" by the script of the test. */
export class ScriptedIsland implements AsyncDisposable {
  /** Inputs of its chats, in order. */
  readonly inputs: ChatInput[] = [];
  #script: Script = () => ({ text: DEFAULT_TEXT });
  readonly #island: FakeIsland;
  readonly #held = new Map<string, Assign>();
  #isReleased = false;
  readonly #timer: NodeJS.Timeout;

  private constructor(island: FakeIsland, heartbeatMs: number) {
    this.#island = island;
    island.handle((frame) => this.#receive(frame));
    this.#timer = setInterval(() => island.send({ type: "heartbeat", state: makeIslandState() }), heartbeatMs);
  }

  /** @param category the only category whose Cargos the Island runs. */
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

  /** Sets another script, and clears the inputs. */
  script(script: Script): void {
    this.inputs.length = 0;
    this.#isReleased = false;
    this.#script = script;
  }

  /** Ends the held completions, and later completions that the script would hold. */
  release(): void {
    this.#isReleased = true;
    for (const assign of this.#held.values()) this.#finish(assign, "stop");
    this.#held.clear();
  }

  #receive(frame: FromCoordinator): void {
    if (frame.type === "assign") this.#run(frame);
    if (frame.type !== "cancel") return;
    const held = this.#held.get(frame.jobId);
    if (held === undefined) return;
    this.#held.delete(frame.jobId);
    this.#island.send({ type: "cancelled", jobId: held.jobId, attempt: held.attempt, seq: 2 });
  }

  #run(assign: Assign): void {
    const { jobId, attempt } = assign;
    const input = assign.input as ChatInput;
    this.inputs.push(input);
    const output = this.#script(input);
    const items = itemsOf(output, jobId);
    this.#island.send(...beginFrames(assign), { type: "output", jobId, attempt, seq: 1, items });
    if ("hold" in output && !this.#isReleased) this.#held.set(jobId, assign);
    else this.#finish(assign, "call" in output ? "tool_calls" : "stop");
  }

  #finish(assign: Assign, finishReason: FinishReason): void {
    const finished = finishedFrame(assign, 2, { completionTokens: 1 });
    this.#island.send({ ...finished, finishReason } as FromIsland);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#island[Symbol.asyncDispose]();
  }
}

/** Calls a tool in the first completion whose request offers it, and writes `text` in all others. */
export function callOnce(name: string, args: Readonly<Record<string, unknown>>, text = DEFAULT_TEXT): Script {
  return ({ messages = [], tools }) => {
    const tool = tools?.find((offered) => offered.function.name === name)?.function;
    if (tool === undefined || messages.some(({ role }) => role === "tool")) return { text };
    return { call: { name, arguments: withAllProperties(args, tool.parameters ?? {}) } };
  };
}

/** Arguments as a model must write them, because its grammar requires every property in the schema's order. */
function withAllProperties(
  args: Readonly<Record<string, unknown>>,
  parameters: Readonly<Record<string, unknown>>,
): object {
  const properties = Object.entries((parameters["properties"] ?? {}) as Record<string, PropertySchema>);
  return Object.fromEntries(properties.map(([name, schema]) => [name, args[name] ?? emptyOf(schema)]));
}

interface PropertySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly PropertySchema[];
  readonly minimum?: number;
}

function emptyOf({ type, enum: choices, anyOf, minimum }: PropertySchema): unknown {
  if (choices !== undefined) return choices[0];
  if (anyOf?.[0] !== undefined) return emptyOf(anyOf[0]);
  const empty = { string: "", boolean: false, array: [], object: {}, null: null } as const;
  const first = typeof type === "object" ? type[0] : type;
  return empty[first as keyof typeof empty] ?? Math.max(minimum ?? 0, 1_000);
}

function itemsOf(output: ScriptedOutput, jobId: string): OutputItem[] {
  if ("call" in output) {
    const { name, arguments: args } = output.call;
    const id = `call_${jobId.slice(-8)}`;
    return [
      { type: "tool_call", index: 0, id, name, arguments: "", count: 1 },
      { type: "tool_call", index: 0, arguments: JSON.stringify(args), count: 1 },
    ];
  }
  const text = "text" in output ? output.text : output.hold;
  return (text.match(/\S+\s*/g) ?? []).map((content) => ({ type: "token", content, count: 1 }));
}
