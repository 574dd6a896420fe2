import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { requireDebian } from "../support/servers/require-debian.ts";
import { makeCatalog } from "../support/small-catalog.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SPOKEN = join(ROOT, "test", "fixtures", "spoken", "yes-no-stop.wav");
/** Excludes the page on webhooks, whose URL is on a public server. */
const PAGES = ["quickstart", "chat", "jobs-and-streams", "files-and-batches"];
/** Makes curl fail if the status is 400 or above, and prints the body. */
const CURL = 'curl() { command curl --fail-with-body --silent --show-error --max-time "${SECONDS_MAX:-60}" "$@"; }';
/** Matches ids that pages shorten, such as `job_…` and `st_a0pSX…`. */
const SHORTENED = /\b(job|conv|batch|file|st)_\w*…/g;
const WHOLE = /\b(job|conv|batch|file|st)_[\w-]{20,}/g;
requireDebian("curl", "curl");

interface Block {
  /** The page's commands in order, each with its output. */
  readonly commands: readonly { readonly text: string; readonly shown: readonly string[] }[];
}

/** Returns the blocks `sh` and `console` of a page. */
function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(sh|console)\n([^]*?)^```/gm)].map(([, kind, body = ""]) => {
    const commands: { text: string; shown: string[] }[] = [];
    for (const line of body
      .replaceAll(/ \\\n\s*/g, " ")
      .trimEnd()
      .split("\n")) {
      if (kind === "sh") commands.push({ text: line, shown: [] });
      else if (line.startsWith("$ ")) commands.push({ text: line.slice(2), shown: [] });
      else commands.at(-1)?.shown.push(line);
    }
    return { commands };
  });
}

describe("the commands of docs/use", () => {
  let network: Network;
  let key: string;
  let folder: string;

  beforeAll(async () => {
    network = await Network.open(["--catalog-directory", makeCatalog(["tiny-chat", "tiny-speech"])]);
    const account = network.createAccount("client@example.com");
    key = account.key;
    folder = join(network.directory, "home");
    mkdirSync(folder);
    copyFileSync(SPOKEN, join(folder, "meeting.wav"));
    await network.startIsland("island", account.islandToken, { "cargos.allow_runtimes": "llmcpp, onnx" });
  });
  afterAll(() => network[Symbol.asyncDispose]());

  /**
   * Runs a command with `asked` on standard input. The call is asynchronous, because requests may pass through this
   * process.
   */
  async function run(
    program: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly asked?: string },
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = spawn(program, args, { cwd: options.cwd, env: options.env });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    // A program may end without reading its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.asked ?? "");
    const [code] = (await once(child, "close")) as [number];
    return { code, stdout, stderr };
  }

  async function bash(
    script: string,
    asked = "",
    env: Record<string, string> = {},
  ): Promise<{ code: number; output: string }> {
    const { code, stdout, stderr } = await run("bash", ["-c", `${CURL}\n${script}`], {
      cwd: folder,
      asked,
      env: { PATH: process.env["PATH"], HOME: folder, ATOLL_BASE_URL: network.url, ...env },
    });
    return { code, output: stdout + stderr };
  }

  async function endedJob(): Promise<string> {
    const input = { prompt: "What is 7 plus 8?", temperature: 0 };
    const { body } = await call(network.url, key, "POST", "/jobs", { workload: "tiny-chat", input });
    await call(network.url, key, "GET", `/jobs/${body.data.id}?wait=30`);
    return body.data.id as string;
  }

  it("set up a shell without showing the key", async () => {
    const [setUp] = blocksOf(readFileSync(join(ROOT, "docs", "use", "quickstart.md"), "utf8"));
    const lines = (setUp?.commands ?? []).map(({ text }) => text.replace("http://127.0.0.1:8080", network.url));
    expect(lines).toHaveLength(4);
    const asks = `${lines.join("\n")}\ncurl $api/account -H "$auth"`;
    const { code, output } = await bash(asks, `${key}\n`);
    expect([code, output]).toEqual([0, expect.stringContaining("client@example.com")]);
  });

  it.each(PAGES)("succeed in %s.md", async (page) => {
    writeFileSync(join(folder, ".atoll-auth"), `Authorization: Bearer ${key}\n`, { mode: 0o600 });
    const blocks = blocksOf(readFileSync(join(ROOT, "docs", "use", `${page}.md`), "utf8"));
    const ids = new Map<string, string>();
    for (const { commands } of blocks.slice(page === "quickstart" ? 1 : 0)) {
      for (const { text, shown } of commands) {
        const file = /^cat (\S+)$/.exec(text)?.[1];
        if (file !== undefined) {
          writeFileSync(join(folder, file), `${shown.join("\n")}\n`);
          continue;
        }
        // Commands about a job refer to an ended one.
        // oxlint-disable-next-line no-await-in-loop
        if (text.includes("job_")) ids.set("job", await endedJob());
        const command = text.replaceAll(SHORTENED, (short, kind: string) => ids.get(kind) ?? short);
        // This stream does not end.
        const isEndless = text.includes("$api/events");
        const script = `api=${network.url}/api/v1 auth=@$HOME/.atoll-auth\n${command}`;
        // oxlint-disable-next-line no-await-in-loop
        const { code, output } = await bash(script, "", isEndless ? { SECONDS_MAX: "2" } : {});
        for (const [id, kind = ""] of output.matchAll(WHOLE)) ids.set(kind, id);
        if (isEndless) expect([code, output]).toEqual([28, expect.stringContaining("event: reset")]);
        // The job or batch may have ended.
        else if (text.includes("-X DELETE") && code !== 0) expect(output).toContain("job_not_cancellable");
        else expect([command, code, output]).toEqual([command, 0, expect.stringMatching(/^[{di]/)]);
      }
    }
  });

  it("submit a chat as a job that returns its completion, and repeat it to get the same job (chat.md)", async () => {
    writeFileSync(join(folder, ".atoll-auth"), `Authorization: Bearer ${key}\n`, { mode: 0o600 });
    const commands = blocksOf(readFileSync(join(ROOT, "docs", "use", "chat.md"), "utf8")).flatMap(
      (each) => each.commands,
    );
    const submission = commands.find(({ text }) => text.includes("$api/jobs ") && text.includes('"messages"'))?.text;
    const script = `api=${network.url}/api/v1 auth=@$HOME/.atoll-auth\n${submission}`;
    const first = await bash(script);
    const { id } = JSON.parse(first.output).data;
    const { body } = await call(network.url, key, "GET", `/jobs/${id}?wait=30`);
    expect(body.data).toMatchObject({ status: "completed", output: "7 plus 8 is 15." });
    const repeat = await bash(script);
    expect(JSON.parse(repeat.output).data.id).toBe(id);
  });

  it("run the TypeScript client, which prints a completion (quickstart.md)", async () => {
    const page = readFileSync(join(ROOT, "docs", "use", "quickstart.md"), "utf8");
    const [, code = ""] = /^```ts\n([^]*?)^```/m.exec(page) ?? [];
    const args = ["--input-type=module-typescript", "--no-warnings", "--eval", code];
    const env = { ...process.env, ATOLL_BASE_URL: network.url, ATOLL_API_KEY: key };
    const { code: status, stdout, stderr } = await run(process.execPath, args, { cwd: ROOT, env });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).not.toBe("");
  });
});
