import { CargoPool } from "../../../island-agent/execution/cargo-pool.ts";
import { Executor } from "../../../island-agent/execution/executor.ts";
import type { EndedJob } from "../../../island-agent/execution/job-history.ts";
import type { FetchedFiles } from "../../../island-agent/execution/job-files.ts";
import { Outbox } from "../../../island-agent/session/outbox.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { FakeRuntime } from "../../support/models/fake-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog, FakeFiles } from "../builders.ts";
import { NO_ENGINES } from "../no-engines.ts";

/** An executor with two slots and fake dependencies. */
export class ExecutorWorld {
  readonly runtime = new FakeRuntime();
  readonly files = new FakeFiles();
  readonly clock = new ManualClock();
  readonly log = new FakeLog();
  readonly outbox = new Outbox(this.clock);
  /** Frames that the Island has sent. */
  readonly sent: FromIsland[] = [];
  readonly executor: Executor;
  /** Sizes of the files of each job that has files. */
  fileBytes = 0;
  /** Whether an engine of the host serves every Cargo. */
  isServed = false;
  /** Number of `onChange` calls. */
  changes = 0;
  readonly ended: EndedJob[] = [];

  constructor(slots = 2) {
    const { runtime, files, clock, log, outbox } = this;
    outbox.connect((frame) => this.sent.push(frame), []);
    const pool = new CargoPool({
      engines: NO_ENGINES,
      runtimes: new Map([["llmcpp" as const, runtime]]),
      files,
      clock,
      log,
      caps: { ramBytes: 1_000, vramBytes: 0 },
      freeRamBytes: () => null,
      onChange: () => undefined,
    });
    this.executor = new Executor({
      files,
      engines: { ...NO_ENGINES, serves: () => this.isServed },
      onChange: () => (this.changes += 1),
      onEnded: (job) => this.ended.push(job),
      outbox,
      pool,
      clock,
      log,
      slots,
      fetchFiles: () => this.#fetched(),
    });
  }

  async #fetched(): Promise<FetchedFiles> {
    return { bytes: this.fileBytes, putInto: async (input) => input, [Symbol.asyncDispose]: async () => undefined };
  }

  /** Returns the frame types of one job. */
  typesOf(jobId = "job_1"): string[] {
    return this.sent.flatMap((frame) => ("jobId" in frame && frame.jobId === jobId ? [frame.type] : []));
  }
}
