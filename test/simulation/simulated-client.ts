import { ServiceError } from "../../shared/errors.ts";
import type { CoordinatorLife } from "./coordinator-life.ts";
import { CHAT_WAIT_MS, type CargoName } from "./settings.ts";
import { inputOf, type Task } from "./task.ts";
import { inputTexts } from "../support/input-texts.ts";

export interface RequestPlan {
  /** Number of the request in its seed. */
  readonly request: number;
  readonly accountId: string;
  readonly cargo: CargoName;
  readonly tokens: number;
  readonly priority: number;
  /** `chat`: the client waits on the connection. Jobs of a batch: 2 or more. */
  readonly kind: "job" | "chat" | "batch";
  readonly jobs: number;
  readonly failFast: boolean;
  readonly isKeyed: boolean;
}

type Tell = (line: string) => void;

/** A submission of a client with its retries. */
export class SimulatedRequest {
  readonly plan: RequestPlan;
  readonly tasks: readonly Task[];
  /** Ids of the jobs in order, after a response. */
  jobIds: readonly string[] | null = null;
  batchId: string | null = null;
  /** Pending responses. */
  open = 0;
  /** Whether a request or its response was lost, so that the client may not know some of its jobs. */
  isInDoubt = false;
  isCancelAsked = false;
  /** Jobs in responses to cancellations, with their states. */
  readonly cancelled = new Map<string, string>();
  readonly faults: string[] = [];
  readonly #tell: Tell;

  constructor(plan: RequestPlan, tell: Tell) {
    this.plan = plan;
    this.#tell = tell;
    this.tasks = Array.from({ length: plan.jobs }, (_, nth) => {
      return { cargo: plan.cargo, tokens: plan.tokens, name: `r${plan.request}${String.fromCharCode(97 + nth)}` };
    });
  }

  send(life: CoordinatorLife): void {
    const { kind, accountId, cargo: slug, priority, request, isKeyed, failFast } = this.plan;
    const idempotency = isKeyed ? { key: `key ${request}`, bodyHash: `body ${request}` } : null;
    const common = { accountId, slug, priority, idempotency };
    const inputs = this.tasks.map(inputOf);
    if (kind === "batch") {
      const failMode = failFast ? ("fail_fast" as const) : ("best_effort" as const);
      this.#ask(
        life,
        "submit",
        life.batches.submit({ ...common, inputs: inputTexts(inputs), failMode }),
        ({ id, jobs }) => {
          this.batchId = id;
          this.#learn(jobs.map((job) => job.id));
        },
      );
      return;
    }
    const chat = kind === "chat" ? { isClientBound: true, waitLimitMs: CHAT_WAIT_MS } : {};
    const sent = life.jobs.submit({ ...common, input: inputs[0] ?? {}, ...chat });
    this.#ask(life, "submit", sent, ({ record }) => this.#learn([record.id]));
  }

  /** Cancels one job, or the whole batch if `nth` is missing. */
  cancel(life: CoordinatorLife, nth: number | null): void {
    const { accountId } = this.plan;
    const { jobIds, batchId } = this;
    if (jobIds === null) return;
    this.isCancelAsked = true;
    if (nth === null && batchId !== null) {
      this.#ask(life, "cancel", life.batches.cancel(accountId, batchId), () => undefined);
      return;
    }
    const jobId = jobIds[(nth ?? 0) % jobIds.length] ?? "";
    this.#ask(life, "cancel", life.jobs.cancel(accountId, jobId), (state) => void this.cancelled.set(jobId, state));
  }

  /** Drops the client's connections. */
  cut(): void {
    if (this.open > 0) this.isInDoubt = true;
    this.open = 0;
  }

  #learn(ids: readonly string[]): void {
    const known = this.jobIds;
    if (known !== null && known.join() !== ids.join()) {
      this.faults.push(`request ${this.plan.request} was answered with other jobs than before`);
    }
    this.jobIds = ids;
  }

  #ask<T>(life: CoordinatorLife, what: string, answer: Promise<T>, onAnswer: (value: T) => void): void {
    this.open += 1;
    answer.then(
      (value) => {
        if (life.isDead) return;
        this.open -= 1;
        onAnswer(value);
        this.#tell(`request ${this.plan.request}: ${what} answered`);
      },
      (error: unknown) => {
        if (life.isDead) return;
        this.open -= 1;
        const code = error instanceof ServiceError ? error.code : String(error);
        if (!(error instanceof ServiceError)) this.faults.push(`request ${this.plan.request}: ${what} failed: ${code}`);
        this.#tell(`request ${this.plan.request}: ${what} refused: ${code}`);
      },
    );
  }
}
