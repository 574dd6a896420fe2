import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Child, runToEnd } from "./demo-processes.ts";
import { cancelJob, streamChat, streamJob, waitForIsland, type DemoClient } from "./demo-scenes.ts";

/** Shows the product at work: a coordinator and an Island as two processes, and a client. */
const { values: flags } = parseArgs({ options: { keep: { type: "boolean", default: false } } });

const directory = await mkdtemp(join(tmpdir(), "atoll-demo-"));
const children: Child[] = [];

try {
  const client = await startNetwork();
  await streamChat(client);
  await streamJob(client);
  await cancelJob(client);
  if (flags.keep) keepRunning(client);
  else await tidyUp();
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  for (const child of children) if (child.stderr !== "") console.error(`--- ${child.name}\n${child.stderr}`);
  await tidyUp();
  process.exitCode = 1;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    void tidyUp().then(() => process.exit(0));
  });
}

async function startNetwork(): Promise<DemoClient> {
  const data = join(directory, "coordinator");
  const islandData = join(directory, "island");
  say("Starting a coordinator and an Island, two processes on this machine");
  const coordinator = new Child("coordinator", ["serve", "--port", "0", "--data", data, "--log-level", "warn"]);
  children.push(coordinator);
  const url = await coordinator.prints(/listening on (\S+)/);
  console.log(`coordinator  ${url}`);

  const email = "demo@example.com";
  const onData = ["--data", data, "--json"];
  await runToEnd(
    "coordinator",
    "account",
    "create",
    "--email",
    email,
    "--password",
    "demo password",
    "--credits",
    "100",
    ...onData,
  );
  const [key, token] = await Promise.all([
    runToEnd<{ key: string }>("coordinator", "key", "create", "--email", email, ...onData),
    runToEnd<{ token: string }>("coordinator", "island-token", "create", "--email", email, ...onData),
  ]);

  await runToEnd("island", "join", url, "--token", token.token, "--data", islandData);
  const island = new Child("island", ["start", "--data", islandData, "--log-level", "warn"]);
  children.push(island);
  await island.prints(/connected to (\S+)/);
  const client = { url, key: key.key };
  console.log(`island       ${await waitForIsland(island)}`);
  return client;
}

function keepRunning({ url, key }: DemoClient): void {
  say("Both go on running; Ctrl-C ends them");
  console.log(`address  ${url}\nkey      ${key}\n`);
  console.log(
    `curl -N ${url}/api/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
  );
  console.log(`  -d '{"messages":[{"role":"user","content":"Count from 3 to 9."}],"temperature":0,"stream":true}'`);
}

/** Ends both processes, the Island first, and removes everything. */
async function tidyUp(): Promise<void> {
  for (const child of children.splice(0).reverse()) await child.stop();
  await rm(directory, { recursive: true, force: true });
}

function say(title: string): void {
  console.log(`\n# ${title}`);
}
