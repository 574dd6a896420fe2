import { call, readEvents, request, type DemoClient } from "./demo-client.ts";

interface JobDetail {
  readonly id: string;
  readonly status: string;
  readonly usage: Record<string, number> | null;
  readonly duration_ms: number | null;
  readonly timings: Record<string, number | null> | null;
  readonly error: { readonly message: string } | null;
}

/** Prints a heading. */
export function printTitle(title: string): void {
  console.log(`\n# ${title}`);
}

/** Prints a streamed chat completion token by token. */
export async function streamChat(client: DemoClient): Promise<void> {
  printTitle('A chat completion, streamed: "Count from 3 to 9."');
  const response = await request(client, "POST", "/chat/completions", {
    messages: [{ role: "user", content: "Count from 3 to 9." }],
    temperature: 0,
    stream: true,
  });
  let text = "";
  let id = "";
  for await (const { data } of readEvents(response)) {
    if (data === "[DONE]") break;
    const chunk = JSON.parse(data) as {
      id: string;
      error?: { message: string };
      choices: { delta: { content?: string } }[];
    };
    if (chunk.error !== undefined) throw new Error(chunk.error.message);
    id = chunk.id;
    const piece = chunk.choices[0]?.delta.content ?? "";
    text += piece;
    process.stdout.write(piece);
  }
  process.stdout.write("\n");
  if (text !== "3, 4, 5, 6, 7, 8, 9.") throw new Error(`the model returned ${JSON.stringify(text)}`);
  await showUsage(client, id);
}

/** Submits a job and prints the events of its stream. */
export async function streamJob(client: DemoClient): Promise<void> {
  printTitle('A job: "What is 7 plus 8?", and its events');
  const input = { prompt: "What is 7 plus 8?", temperature: 0 };
  const submitted = await call<{ id: string }>(client, "POST", "/jobs", { workload: "tiny-chat", input });
  const response = await request(client, "GET", `/jobs/${submitted.id}/stream`);
  let last = "";
  for await (const { event, data } of readEvents(response)) {
    console.log(`${event.padEnd(8)} ${data}`);
    last = event;
  }
  if (last !== "done") throw new Error(`the stream ended in ${last}`);
  await showUsage(client, submitted.id);
}

/** Cancels a job while it runs. */
export async function cancelJob(client: DemoClient): Promise<void> {
  printTitle("A long job (a JSON list of 300 colours), cancelled after its first token");
  // The schema requires 300 items. Without it the model would stop early.
  const schema = { type: "array", items: { enum: ["red", "blue", "green"] }, minItems: 300, maxItems: 300 };
  const response_format = { type: "json_schema", json_schema: { name: "colours", schema } };
  const input = { prompt: "Name 300 colours.", max_tokens: 980, response_format };
  const submitted = await call<{ id: string }>(client, "POST", "/jobs", { workload: "tiny-chat", input });
  const response = await request(client, "GET", `/jobs/${submitted.id}/stream`);
  let cancelled: object | null = null;
  for await (const { event, data } of readEvents(response)) {
    if (event !== "token") console.log(`${event.padEnd(8)} ${data}`);
    if (event === "token") cancelled ??= await call<object>(client, "DELETE", `/jobs/${submitted.id}`);
  }
  if (cancelled === null) throw new Error("The job ended without a token");
  console.log(`cancel   ${JSON.stringify(cancelled)}`);
  await showUsage(client, submitted.id, "cancelled");
}

/** Prints usage, credits and timings of a job that has ended. @throws if its state is not `wanted`. */
async function showUsage(client: DemoClient, jobId: string, wanted = "completed"): Promise<void> {
  const job = await call<JobDetail>(client, "GET", `/jobs/${jobId}`);
  const account = await call<{ credits: number }>(client, "GET", "/account");
  console.log(
    `\nstatus   ${job.status}\nusage    ${JSON.stringify(job.usage)}\ntimings  ${JSON.stringify({ duration_ms: job.duration_ms, ...job.timings })}`,
  );
  console.log(`credits  ${account.credits} left`);
  if (job.status !== wanted) throw new Error(`the job is ${job.status}: ${job.error?.message ?? ""}`);
}
