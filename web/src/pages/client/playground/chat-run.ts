import type { ChatBody } from "@atoll/client";
import { useRef, useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { Repaints } from "../../../components/repaints.ts";
import { messageOf } from "../../../components/error-message.ts";

export interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Speed of a completion, measured by the browser's clock. */
export interface Speed {
  readonly firstTokenMs: number | null;
  readonly tokens: number;
  readonly tokensPerSecond: number | null;
}

/** State of the chat. "waiting": sent, without a token yet. */
export type RunState = "idle" | "waiting" | "streaming" | "done" | "stopped" | "failed";

export interface ChatRun {
  readonly turns: readonly Turn[];
  readonly state: RunState;
  readonly error: string | null;
  readonly speed: Speed | null;
  /** Credits charged for the most recent completion; null before its end. */
  readonly cost: number | null;
  /** Sends a prompt. Resolves with false if no token arrived; the prompt goes back to the field then. */
  readonly send: (body: Omit<ChatBody, "messages">, system: string, content: string) => Promise<boolean>;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** Runs a chat that only this page stores. Each request sends all earlier turns. */
export function useChatRun(): ChatRun {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [state, setState] = useState<RunState>("idle");
  const [error, setError] = useState<string | null>(null);
  const [speed, setSpeed] = useState<Speed | null>(null);
  const [cost, setCost] = useState<number | null>(null);
  const abort = useRef<AbortController | null>(null);

  const send: ChatRun["send"] = async (body, system, content) => {
    const sent: readonly Turn[] = [...turns, { role: "user", content }];
    const controller = new AbortController();
    abort.current = controller;
    const meter = new SpeedMeter();
    let completion = "";
    const repaints = new Repaints(() => {
      setTurns([...sent, { role: "assistant", content: completion }]);
      setSpeed(meter.read());
    });
    setTurns(sent);
    setState("waiting");
    setError(null);
    setSpeed(null);
    setCost(null);
    try {
      const messages = [...(system === "" ? [] : [{ role: "system" as const, content: system }]), ...sent];
      const chunks = api().chat.stream(
        { ...body, messages, stream_options: { include_usage: true } },
        { signal: controller.signal },
      );
      for await (const { choices, usage } of chunks) {
        if (usage !== undefined) {
          meter.counted(usage.completion_tokens);
          setCost(usage.cost);
        }
        const piece = choices[0]?.delta.content ?? "";
        if (piece === "") continue;
        if (completion === "") setState("streaming");
        completion += piece;
        meter.token();
        repaints.schedule(completion.length);
      }
      repaints.now();
      setState("done");
      return true;
    } catch (failure) {
      repaints.cancel();
      if (controller.signal.aborted) {
        setState("stopped");
        if (completion !== "") repaints.now();
        else setTurns(turns);
        return completion !== "";
      }
      setError(messageOf(failure));
      setState("failed");
      if (completion !== "") repaints.now();
      else setTurns(turns);
      return completion !== "";
    }
  };
  return {
    turns,
    state,
    error,
    speed,
    cost,
    send,
    stop: () => abort.current?.abort(),
    clear: () => {
      abort.current?.abort();
      setTurns([]);
      setSpeed(null);
      setCost(null);
      setError(null);
      setState("idle");
    },
  };
}

/** Measures the time to the first token, and the tokens per second after it. */
class SpeedMeter {
  readonly #startMs = performance.now();
  #firstMs: number | null = null;
  #lastMs = 0;
  #pieces = 0;
  #tokens: number | null = null;

  token(): void {
    this.#lastMs = performance.now();
    this.#firstMs ??= this.#lastMs;
    this.#pieces += 1;
  }

  /** Sets the coordinator's count, since a piece of text can be more than one token. */
  counted(tokens: number): void {
    this.#tokens = tokens;
  }

  read(): Speed {
    const tokens = this.#tokens ?? this.#pieces;
    const spentMs = this.#firstMs === null ? 0 : this.#lastMs - this.#firstMs;
    return {
      firstTokenMs: this.#firstMs === null ? null : this.#firstMs - this.#startMs,
      tokens,
      tokensPerSecond: tokens > 1 && spentMs > 0 ? ((tokens - 1) * 1_000) / spentMs : null,
    };
  }
}
