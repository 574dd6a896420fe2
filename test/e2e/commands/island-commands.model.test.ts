import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../../island-agent/execution/island-reports.ts";
import { call, until } from "../../support/http/http.ts";
import { Network } from "../../support/network/network.ts";
import { Program, runProgram } from "../../support/program.ts";
import { unlessSeveral } from "../../support/network/several-coordinators.ts";
import { CAN_MOUNT, SmallDisk } from "../../support/small-disk.ts";

const WAITS = "a job names only Islands of its coordinator as what it waits for";

let network: Network;
let key: string;
let islandToken: string;
let accountId: string;
let island: Program;
let data: string;

beforeAll(async () => {
  network = await Network.open(["--log-level", "info", "--heartbeat-s", "1"]);
  const account = network.createAccount("host@example.com");
  ({ key, islandToken } = account);
  accountId = account.id;
  island = await network.startIsland("one", account.islandToken);
  data = network.islandData("one");
}, 60_000);
afterAll(() => network[Symbol.asyncDispose]());

const command = (...args: string[]) => runProgram("island", ...args, "--data", data);
const status = async (): Promise<AgentStatus> => JSON.parse((await command("status", "--json")).stdout) as AgentStatus;

/** Runs `status --watch` at a terminal until it was drawn twice, then sends Ctrl-C. */
async function watched(): Promise<{ code: number; text: string }> {
  const line = ["exec", process.execPath, "bin/island.ts", "status", "--watch", "--data", data].join(" ");
  const terminal = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], { stdio: "pipe" });
  let text = "";
  terminal.stdout.setEncoding("utf8").on("data", (drawn: string) => {
    const isSecond = text.split("slots").length === 2 && drawn.includes("slots");
    text += drawn;
    if (isSecond) terminal.stdin.write("\u0003");
  });
  const [code] = (await once(terminal, "close")) as [number];
  return { code, text };
}

/** Returns local times of day that start and end the given number of hours from now. */
function hoursFromNow(from: number, to: number): string {
  const at = (hours: number): string => `${String((new Date().getHours() + hours) % 24).padStart(2, "0")}:00`;
  return `${at(from)}-${at(to)}`;
}

/** The agent's log, as JSON. */
function loggedBy({ stderr }: Pick<Program, "stderr">): Record<string, unknown>[] {
  const lines = stderr.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("island pause, resume and drain", () => {
  it(
    ...unlessSeveral("keep new jobs waiting while paused, even across a restart, and finally end the agent", WAITS),
    async () => {
      expect(await command("pause")).toMatchObject({ code: 0, stdout: "Paused. No jobs are running\n" });
      expect((await status()).closedBecause).toBe("paused");
      const { body } = await call(network.url, key, "POST", "/jobs", {
        workload: "tiny-chat",
        input: { prompt: "Hi" },
      });
      const job = `/jobs/${body.data.id}`;
      const waiting = async (): Promise<unknown> =>
        (await call(network.url, key, "GET", job)).body.data.waiting?.message;
      await until(waiting, (message) => /takes no new jobs now/.test(String(message)), "the job says why it waits");
      expect(await command("resume")).toMatchObject({ code: 0, stdout: "The Island accepts jobs again\n" });
      const done = await call(network.url, key, "GET", `${job}?wait=60`);
      expect(done.body.data.status).toBe("completed");

      // The agent writes the file shortly after the coordinator has recorded the state.
      const brief = await until(
        async () => (await command("status")).stdout,
        (text) => text.includes("tiny-chat, completed"),
        "the job is in the history",
      );
      expect(brief).toMatch(/^Earned {5}\d+(\.\d+)? credits today, /m);
      const history = await command("history");
      expect(history.stdout).toMatch(
        new RegExp(`  tiny-chat  \\d+\\.\\d s  completed  \\d+(\\.\\d+)? +${body.data.id}\n$`),
      );
      const end = await until(
        async () => loggedBy(network.coordinator).find(({ msg }) => msg === "Job ended"),
        (line) => line !== undefined,
        "the coordinator logs the end",
      );
      const ids = { job_id: body.data.id, account_id: accountId, island_id: (await status()).hostId };
      expect(end).toMatchObject({ ...ids, cargo: "tiny-chat", state: "completed", attempts: 1 });
      expect((await command("metrics")).stdout).toMatch(/^atoll_island_jobs_total\{outcome="completed"\} 1$/m);

      expect(await watched()).toMatchObject({
        code: 0,
        text: expect.stringMatching(/Running {4}0 of 4 slots.*slots/s),
      });
      expect((await command("status", "--watch")).stderr).toContain("--watch requires a terminal");

      const applied = { code: 0, stdout: "Applied to the running agent\n" };
      expect(await command("config", "set", "slots", "1")).toMatchObject(applied);
      expect(await command("config", "set", "caps.ram_gb", "0.5")).toMatchObject(applied);
      expect(await command("config", "set", "gpu", "auto")).toMatchObject({
        stdout: "Stored. Restart the agent to apply it\n",
      });
      const hours = hoursFromNow(2, 3);
      expect((await command("config", "set", "hours", hours)).stdout).toContain("Applied. The Island is outside its");
      const { hostId, ...changed } = await status();
      expect(changed).toMatchObject({ slots: 1, hours, memoryCaps: { ramBytes: 2 ** 29 } });
      await until(
        async () => (await call(network.url, key, "GET", `/islands/${hostId}`)).body.data,
        ({ status: is, load, hardware }) => is === "paused" && load?.slots === 1 && hardware.ram_mb === 512,
        "the coordinator knows the new slots, memory and hours",
      );
      expect(await command("config", "unset", "hours")).toMatchObject(applied);

      expect((await command("leave", "--yes")).stderr).toBe(
        `An agent is running on ${data}. Stop it first, with island drain or by removing its service\n`,
      );
      expect((await command("drain")).stdout).toContain("The agent stops when its running jobs have finished.");
      expect((await island.ended()).code).toBe(0);
      const late = await command("drain");
      expect([late.code, late.stderr]).toEqual([
        1,
        "No agent is running on this data directory. Start one with: island start\n",
      ]);
      expect((await command("pause")).stdout).toBe("No agent is running. The next one starts paused\n");
    },
  );
});

describe("island leave", () => {
  it("removes the Island at the coordinator, deletes token and models, and reports the freed space", async () => {
    const mine = async (): Promise<unknown[]> => (await call(network.url, key, "GET", "/islands")).body.data;
    expect(await mine()).toHaveLength(1);
    expect(await command("leave", "--models", "--keep-models")).toMatchObject({ code: 2 });
    expect((await command("leave")).stderr).toMatch(/^Nothing was changed.* To leave .*, add --yes\n$/);
    expect(await command("leave", "--yes", "--models")).toMatchObject({
      code: 0,
      stderr: "",
      stdout: [
        `Left ${network.url}. The coordinator deleted this Island`,
        "Deleted the Island token, and the URL and key of the coordinator",
        "Freed 2.2 MiB\n",
      ].join("\n"),
    });
    expect(await mine()).toEqual([]);
    expect((await command("leave", "--yes")).stderr).toBe(
      `${data} has not joined a coordinator, so there is nothing to leave\n`,
    );
    expect(await readFile(join(data, "config.toml"), "utf8")).not.toContain("it_");
    // Other Islands may use the same token, and this machine may rejoin with it.
    expect((await command("join", network.url, "--token", islandToken)).code).toBe(0);
    await using again = new Program("island", ["start", "--data", data], { ISLAND_CARGOS_ALLOW_RUNTIMES: "wasm" });
    await again.printed(/connected to/);
  });
});

const MB = 1_000_000;

describe.runIf(CAN_MOUNT)("an Island whose disk lacks space for a model", () => {
  it(
    ...unlessSeveral("refuses its jobs with the reason, and accepts them as soon as it has space", WAITS),
    async () => {
      const data = network.islandData("small");
      mkdirSync(data);
      using _disk = new SmallDisk(60 * MB, data);
      const ballast = join(data, "ballast");
      writeFileSync(ballast, Buffer.alloc(40 * MB));
      await using small = await network.startIsland("small", islandToken, { "models.min_free_gb": "0.03" });
      const submit = { workload: "tiny-chat", input: { prompt: "Hi" } };
      const job = `/jobs/${(await call(network.url, key, "POST", "/jobs", submit)).body.data.id}`;
      const waiting = async (): Promise<unknown> => (await call(network.url, key, "GET", job)).body.data.waiting;
      await until(
        waiting,
        (why) => JSON.stringify(why).includes("1 Island offers llmcpp, but it lacks disk space for its model or image"),
        "the job says why it waits",
      );
      const status = await runProgram("island", "status", "--data", data);
      expect(status.stdout).toMatch(
        /^Disk space not enough space for tiny-chat; 0 KiB left for models: free space, .*models\.min_free_gb$/m,
      );
      const { jobs } = JSON.parse((await runProgram("island", "history", "--json", "--data", data)).stdout);
      expect(jobs).toMatchObject([{ outcome: "failed", why: expect.stringMatching(/^The model needs 2\.2 MiB/) }]);

      rmSync(ballast);
      const done = (await call(network.url, key, "GET", `${job}?wait=60`)).body.data;
      expect(done).toMatchObject({ status: "completed", attempts: 1 });
      small.kill("SIGTERM");
      await small.ended();
    },
  );
});
