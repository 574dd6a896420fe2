import { AT, JOB_ID, LATER, type Examples } from "./example.ts";

const USAGE = { prompt_tokens: 11, completion_tokens: 13, total_tokens: 24, credits_used: 1.5 };
const INPUT = { prompt: "Count to 3.", max_tokens: 64, temperature: 0 };
const BATCH_ID = "batch_01JGFJJZ00000000000000000B";
const NO_JOBS = { pending: 0, queued: 0, running: 0, completed: 0, failed: 0, cancelled: 0, timeout: 0 };

const COMPLETED = {
  id: JOB_ID,
  workload_id: 7,
  workload_slug: "tiny-chat",
  status: "completed",
  priority: 10,
  input_removed_at: null,
  output_removed_at: null,
  output: "1, 2, 3.",
  usage: USAGE,
  created_at: AT,
  started_at: AT,
  completed_at: LATER,
  duration_ms: 1_250,
  finish_reason: "stop",
  error: null,
  attempts: 1,
  island_id: "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
  timings: { load_ms: 0, first_output_ms: 85.5, run_ms: 1_201.25 },
  batch_id: null,
  ignored: [],
};

const BATCH = {
  id: BATCH_ID,
  workload_id: 7,
  workload_slug: "tiny-chat",
  status: "pending",
  fail_mode: "best_effort",
  priority: 0,
  counts: { ...NO_JOBS, pending: 2, total: 2 },
  jobs: [
    { id: JOB_ID, status: "pending" },
    { id: "job_01JGFJJZ00000000000000000C", status: "pending" },
  ],
  created_at: AT,
  completed_at: null,
  webhook: null,
};
const { webhook: _, ...BATCH_EVENT } = BATCH;

export const JOB_EXAMPLES: Examples = {
  submitJob: {
    request: { workload: "tiny-chat", input: INPUT, priority: 10 },
    response: {
      data: {
        id: JOB_ID,
        workload_id: 7,
        workload_slug: "tiny-chat",
        status: "submitted",
        input: INPUT,
        created_at: AT,
      },
    },
  },
  listJobs: {
    response: {
      data: [
        {
          id: JOB_ID,
          workload_slug: "tiny-chat",
          status: "completed",
          created_at: AT,
          completed_at: LATER,
          batch_id: null,
          workload_id: 7,
          input: INPUT,
        },
      ],
      meta: { total: 1, limit: 20, offset: 0 },
    },
  },
  getJob: { response: { data: { ...COMPLETED, input: INPUT, waiting: null, webhook: null } } },
  cancelJob: { response: { data: { id: JOB_ID, status: "cancelled" } } },
  getJobOutput: {
    response: {
      data: {
        id: JOB_ID,
        workload_slug: "tiny-chat",
        status: "running",
        output: "1, 2",
        is_complete: false,
        tokens: 4,
        progress: null,
        usage: null,
      },
    },
  },
  submitBatch: {
    request: {
      workload: "tiny-chat",
      inputs: [{ prompt: "Count to 3." }, { prompt: "Count to 5." }],
      fail_mode: "best_effort",
    },
    response: { data: BATCH },
  },
  getBatch: {
    response: {
      data: {
        ...BATCH,
        status: "running",
        counts: { ...NO_JOBS, running: 1, completed: 1, total: 2 },
        jobs: [
          { id: JOB_ID, status: "completed", output: "1, 2, 3.", error: null },
          { id: "job_01JGFJJZ00000000000000000C", status: "running", output: null, error: null },
        ],
        next_output_offset: null,
      },
    },
  },
  cancelBatch: {
    response: {
      data: {
        ...BATCH,
        status: "cancelled",
        counts: { ...NO_JOBS, cancelled: 2, total: 2 },
        jobs: BATCH.jobs.map(({ id }) => ({ id, status: "cancelled" })),
        completed_at: LATER,
      },
    },
  },
  jobEnded: {
    request: { type: "job.completed", timestamp: LATER, data: { ...COMPLETED, output_omitted: false } },
  },
  batchFinished: {
    request: {
      type: "batch.finished",
      timestamp: LATER,
      data: {
        ...BATCH_EVENT,
        status: "completed",
        counts: { ...NO_JOBS, completed: 2, total: 2 },
        jobs: BATCH.jobs.map(({ id }) => ({ id, status: "completed" })),
        completed_at: LATER,
      },
    },
  },
};
