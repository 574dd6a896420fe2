import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { DemoClient } from "./demo/demo-client.ts";
import { DemoProcesses, type Child } from "./demo/demo-processes.ts";
import { cancelJob, printTitle, streamChat, streamJob } from "./demo/demo-scenes.ts";
import { runSmallCargos } from "./demo/small-cargos.ts";

/** Exit codes when a signal ends the demo: 128 plus the signal's number, as in POSIX shells. */
const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Credentials of the demo's account. The coordinator listens only on loopback. */
const [EMAIL, PASSWORD] = ["demo@example.com", "demo password"];

class Interruption extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("interrupted");
    this.exitCode = exitCode;
  }
}

// The listeners are installed before anything starts, so that a signal at any time ends everything.
const interrupted = Promise.withResolvers<never>();
for (const [signal, code] of Object.entries(SIGNAL_CODES)) {
  process.on(signal, () => interrupted.reject(new Interruption(code)));
}
// The reader of the output may close it (`npm run demo | head`).
process.stdout.on("error", () => interrupted.reject(new Interruption(1)));
// A bug in the demo must not leave processes behind either.
process.on("uncaughtException", (error) => interrupted.reject(error));

process.exitCode = await runDemo(process.argv.slice(2));

/** Runs a coordinator, an Island and a client, and prints what they do. */
async function runDemo(args: readonly string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "atoll-demo-"));
  const processes = new DemoProcesses();
  let isKept = false;
  try {
    const { values: flags } = parseArgs({ args: [...args], options: { keep: { type: "boolean", default: false } } });
    const { client, coordinator, island } = await Promise.race([interrupted.promise, startNetwork()]);
    const exits = [interrupted.promise, coordinator.rejectOnExit(), island.rejectOnExit()];
    await Promise.race([...exits, showScenes(client)]);
    if (flags.keep) {
      isKept = true;
      // With this role, the console also shows the pages for operators.
      const role = ["account", "role", "--email", EMAIL, "--operator", "--data", join(directory, "coordinator")];
      await Promise.race([...exits, processes.run("coordinator", role)]);
      printAddress(client);
      await Promise.race(exits);
    }
    console.log("\nTo look around in the console: npm run demo -- --keep");
    return 0;
  } catch (error) {
    if (error instanceof Interruption) return isKept ? 0 : error.exitCode;
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`\nThe demo failed: ${reason}\n${processes.errorOutput()}`.trimEnd());
    return 1;
  } finally {
    await processes.stop();
    await rm(directory, { recursive: true, force: true });
  }

  async function startNetwork(): Promise<{ client: DemoClient; coordinator: Child; island: Child }> {
    const data = join(directory, "coordinator");
    const islandData = join(directory, "island");
    printTitle("Starting a coordinator and an Island as two processes on this machine");
    const coordinator = processes.start("coordinator", [
      ...["serve", "--port", "0", "--data", data, "--log-level", "warn"],
    ]);
    const [[, url = ""], account] = await Promise.all([
      coordinator.waitForOutput(/listening on (\S+)\n/),
      // Account commands do not need a running server.
      processes.run(
        "coordinator",
        [
          ...["account", "create", "--email", EMAIL, "--credits", "100"],
          ...["--with-key", "--with-island-token", "--data", data, "--json"],
        ],
        { ATOLL_PASSWORD: PASSWORD },
      ),
    ]);
    console.log(`coordinator  ${url}`);
    const { key, island_token } = JSON.parse(account) as { key: string; island_token: string };
    await processes.run("island", ["join", url, "--data", islandData], { ISLAND_COORDINATOR_TOKEN: island_token });
    const island = processes.start("island", ["start", "--data", islandData, "--log-level", "warn"]);
    const [, offer] = await island.waitForOutput(/connected to \S+ (.*)\n/);
    console.log(`island       ${offer}`);
    return { client: { url, key }, coordinator, island };
  }
}

async function showScenes(client: DemoClient): Promise<void> {
  await streamChat(client);
  await streamJob(client);
  await cancelJob(client);
  await runSmallCargos(client);
}

function printAddress({ url, key }: DemoClient): void {
  printTitle("The coordinator and the Island keep running. Press Ctrl-C to end them");
  console.log(`address  ${url}\nkey      ${key}\n`);
  console.log(`The console                 ${url}`);
  console.log(`Sign in there as            ${EMAIL} (password: ${PASSWORD})`);
  console.log(`The API as a page           ${url}/docs`);
  console.log(`Base URL for OpenAI clients ${url}/v1\n`);
  console.log(`curl -N ${url}/api/v1/chat/completions -H @- -H "Content-Type: application/json" \\`);
  console.log(`  -d '{"messages":[{"role":"user","content":"Count from 3 to 9."}],"temperature":0,"stream":true}' \\`);
  // The key goes through standard input, because other users of the machine can see a command's arguments.
  console.log(`  <<< "Authorization: Bearer ${key}"`);
}
