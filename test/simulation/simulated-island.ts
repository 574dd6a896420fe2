import type { LastFrame } from "../../island-agent/session/attempt-log.ts";
import { Outbox } from "../../island-agent/session/outbox.ts";
import type { Assign, FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";
import { makeHello } from "../support/network/frames.ts";
import type { Link } from "./link.ts";
import { PROMPT_TOKENS, type CargoName } from "./settings.ts";
import { taskOf, textOf, tokenOf, valueOf, type Task } from "./task.ts";

/**
 * Steps of an Island in a run. `stop` confirms a cancellation, or stops the job because the Island's owner requests it.
 */
export const DEEDS = ["start", "token", "progress", "finish", "failAgain", "failFinally", "stop", "refuse"] as const;
export type AuditEvent = (typeof DEEDS)[number];

export interface Run {
  readonly jobId: string;
  readonly attempt: number;
  readonly task: Task;
  /** Number of tokens that this attempt and earlier attempts generated. */
  made: number;
  isStarted: boolean;
  isCancelled: boolean;
}

export interface SimulatedIslandDeps {
  readonly index: number;
  readonly accountId: string;
  readonly slots: number;
  /** Whether a broken Island had the job as well. */
  readonly isTainted: (jobId: string) => boolean;
  readonly onFault: (fault: string) => void;
}

/** An honest Island with the agent's real outbox. The seed advances its runs, and all results are correct. */
export class SimulatedIsland {
  readonly index: number;
  readonly hostId: string;
  readonly accountId: string;
  readonly slots: number;
  link: Link | null = null;
  runs: Run[] = [];
  /** All attempts that it was assigned. */
  readonly assigned: Pick<Assign, "jobId" | "attempt">[] = [];
  /** Jobs for which it has generated tokens. */
  readonly streamed = new Set<string>();
  #outbox = new Outbox(neverBusy());
  readonly #isTainted: (jobId: string) => boolean;
  readonly #onFault: (fault: string) => void;

  constructor({ index, accountId, slots, isTainted, onFault }: SimulatedIslandDeps) {
    this.index = index;
    this.hostId = `3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f0${index}`;
    this.accountId = accountId;
    this.slots = slots;
    this.#isTainted = isTainted;
    this.#onFault = onFault;
  }

  get isIdle(): boolean {
    return this.runs.length === 0 && this.#outbox.isEmpty;
  }

  /** Opens a connection and sends `hello`. */
  dial(link: Link): void {
    this.link = link;
    link.up.push(makeHello({ hostId: this.hostId, slots: this.slots, held: this.#outbox.held() }));
  }

  /** Notifies the Island that its connection is lost. */
  lose(): void {
    if (this.link !== null) this.link.isHeldByIsland = false;
    this.link = null;
    this.#outbox.disconnect();
  }

  /** Kills and restarts the agent, which loses its jobs. */
  restart(): void {
    this.lose();
    this.runs = [];
    this.#outbox = new Outbox(neverBusy());
  }

  /** Sends a frame without the outbox, like a broken Island. */
  sendRaw(frame: FromIsland): void {
    this.link?.up.push(frame);
  }

  receive(frame: FromCoordinator): void {
    switch (frame.type) {
      case "welcome": {
        const kept = frame.held.filter(({ action }) => action === "continue").map(({ jobId }) => jobId);
        this.runs = this.runs.filter(({ jobId }) => kept.includes(jobId));
        const { link } = this;
        return this.#outbox.connect((sent) => link?.up.push(sent), frame.held, frame.maxFrameBytes, frame.features);
      }
      case "assign":
        return this.#begin(frame);
      case "cancel": {
        const run = this.runs.find(({ jobId, attempt }) => jobId === frame.jobId && attempt === frame.attempt);
        if (run !== undefined) run.isCancelled = true;
        return undefined;
      }
      case "ack":
        return this.#outbox.acknowledge(frame.jobId, frame.attempt, frame.seq);
      case "preload":
      case "goodbye":
        return undefined;
      default:
        return frame satisfies never;
    }
  }

  work(run: Run, auditEvent: AuditEvent): void {
    const { jobId, attempt, task } = run;
    switch (auditEvent) {
      case "start":
        return this.#start(run, run.isStarted ? PROMPT_TOKENS : PROMPT_TOKENS / 2);
      case "token":
        this.#start(run, PROMPT_TOKENS);
        if (task.cargo !== "value") return this.#stream(run, Math.min(run.made + 1, task.tokens));
        return this.#outbox.output(jobId, attempt, { type: "progress", step: 1, total: 2 });
      case "progress":
        this.#start(run, PROMPT_TOKENS);
        return this.#outbox.output(jobId, attempt, { type: "progress", step: 0, total: 2 });
      case "finish":
        this.#start(run, PROMPT_TOKENS);
        if (task.cargo !== "value") this.#stream(run, task.tokens);
        return this.#end(run, finishedFrame(task));
      case "failAgain":
        return this.#end(run, { type: "failed", code: "runtime_crashed", message: "it broke", retryable: true });
      case "failFinally":
        return this.#end(run, { type: "failed", code: "model_invalid", message: "it is bad", retryable: false });
      case "stop":
        return this.#end(run, { type: "cancelled" });
      case "refuse":
        this.#remove(run);
        return this.#outbox.refuse({ type: "refused", jobId, attempt, code: "model_unavailable", message: "no" });
      default:
        return auditEvent satisfies never;
    }
  }

  #begin(assign: Assign): void {
    const { jobId, attempt, resume, input, cargo } = assign;
    if (this.#outbox.has(jobId, attempt)) return;
    const task = taskOf(cargo.slug as CargoName, input);
    this.runs = this.runs.filter((run) => run.jobId !== jobId);
    if (resume !== undefined && resume.text !== textOf(task, resume.tokens) && !this.#isTainted(jobId)) {
      this.#onFault(`Island ${this.index} is to continue "${resume.text}" as ${resume.tokens} tokens`);
    }
    this.assigned.push({ jobId, attempt });
    if (this.runs.length >= this.slots && !this.#isTainted(jobId)) {
      this.#onFault(`Island ${this.index} was given more jobs than it has slots`);
    }
    this.runs.push({ jobId, attempt, task, made: resume?.tokens ?? 0, isStarted: false, isCancelled: false });
    this.#outbox.open(assign, () => this.#onFault(`Output of Island ${this.index} could not be sent`));
  }

  #start(run: Run, done: number): void {
    const { jobId, attempt, task } = run;
    if (run.isStarted && done < PROMPT_TOKENS) return;
    if (!run.isStarted) this.#outbox.start(jobId, attempt);
    run.isStarted = true;
    if (task.cargo !== "value" && run.made === 0) this.#outbox.prompt(jobId, attempt, { total: PROMPT_TOKENS, done });
  }

  #stream(run: Run, until: number): void {
    if (run.made < until) this.streamed.add(run.jobId);
    for (; run.made < until; run.made += 1) {
      this.#outbox.output(run.jobId, run.attempt, { type: "token", content: tokenOf(run.task, run.made), count: 1 });
    }
  }

  #end(run: Run, frame: LastFrame): void {
    this.#remove(run);
    this.#outbox.end(run.jobId, run.attempt, frame);
  }

  #remove(run: Run): void {
    this.runs = this.runs.filter((other) => other !== run);
  }
}

function finishedFrame(task: Task): LastFrame {
  return {
    type: "finished",
    ...(task.cargo === "value" ? { output: valueOf(task) } : {}),
    finishReason: "stop",
    usage: { promptTokens: PROMPT_TOKENS, completionTokens: task.cargo === "value" ? 0 : task.tokens },
    timings: { loadMs: 1, firstOutputMs: 1, runMs: 10 },
  };
}

/** Returns a clock on which an outbox never gathers output beyond a tick, because the seed decides when frames arrive. */
function neverBusy(): ConstructorParameters<typeof Outbox>[0] {
  let nowMs = 0;
  return { monotonicMs: () => (nowMs += 1_000), schedule: () => ({ cancel: () => undefined }) };
}
