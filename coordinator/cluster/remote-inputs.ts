import type { Clock } from "../../shared/clock.ts";
import { ClusterUnavailableError, RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { BusError } from "../bus/bus.ts";
import type { InputReceipt, InputRequest } from "../jobs/input-session.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import { M, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";

export interface RemoteInputsDeps {
  readonly selfId: string;
  readonly peers: Pick<Peers, "ask" | "answer" | "downBecause">;
  readonly cluster: Pick<ClusterStore, "ownerOf">;
  readonly jobs: Pick<JobRegistry, "get" | "inputs">;
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
}

type InputQuestion = QuestionOf<typeof M.input>;
type InputAnswer = ReplyOf<typeof M.input>;

/** The owner waits 2 s for the job's program. */
const LIMIT_MS = 5_000;
const RETRY_MS = 50;

/** Hands input on to the coordinators that have the jobs, and takes what others hand on. */
export class RemoteInputs {
  readonly #deps: RemoteInputsDeps;

  constructor(deps: RemoteInputsDeps) {
    this.#deps = deps;
    deps.peers.answer(M.input, (question) => this.#answer(question));
  }

  /** See `RemoteJob.sendInput`. */
  async send(jobId: string, request: InputRequest): Promise<InputReceipt | null> {
    const { cluster, clock } = this.#deps;
    const untilMs = clock.monotonicMs() + LIMIT_MS;
    for (;;) {
      const ownerId = await cluster.ownerOf(jobId);
      if (ownerId === undefined) return null;
      const answer = await this.#ask(ownerId, { ...request, jobId }, untilMs - clock.monotonicMs());
      if (answer.is === "received") return answer.receipt;
      if (answer.is === "refused") throw refusalOf(answer);
      if (clock.monotonicMs() >= untilMs) throw new ClusterUnavailableError();
      await clock.sleep(RETRY_MS);
    }
  }

  /** @throws {ClusterUnavailableError} while nobody can be reached; and where the question may have been heard, and must not be repeated. */
  async #ask(ownerId: string, question: InputQuestion, timeoutMs: number): Promise<InputAnswer> {
    const { peers, selfId } = this.#deps;
    try {
      return await peers.ask(ownerId, M.input, question, timeoutMs);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      const isUnheard = error.kind === "unreachable" && (peers.downBecause === null || ownerId === selfId);
      if (isUnheard || (question.seq !== undefined && error.kind === "timeout")) return { is: "gone" };
      throw new ClusterUnavailableError({ cause: error });
    }
  }

  async #answer({ jobId, line, seq }: InputQuestion): Promise<InputAnswer> {
    const { jobs } = this.#deps;
    if (jobs.get(jobId) === undefined) return { is: "gone" };
    try {
      return { is: "received", receipt: await jobs.inputs.take(jobId, { line, seq }) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const retryAfterS = error instanceof RateLimitedError ? error.retryAfterS : null;
      return { is: "refused", code: error.code, message: error.message, retryAfterS };
    }
  }
}

function refusalOf({ code, message, retryAfterS }: Extract<InputAnswer, { is: "refused" }>): ServiceError {
  return retryAfterS === null ? new ServiceError(code, message) : new RateLimitedError("input_backlog", retryAfterS);
}
