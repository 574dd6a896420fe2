import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../../support/http/http.ts";
import { Network } from "../../support/network/network.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { WebhookReceiver } from "../../support/servers/webhook-receiver.ts";

/** `npm run test:clients -- python` runs the official Python client from PyPI against a real network. */

const ROOT = join(import.meta.dirname, "..", "..", "..");
const VENV = join(ROOT, "node_modules", ".cache", "python-clients");
const PYTHON = join(VENV, "bin", "python");
const REQUIREMENTS = join(import.meta.dirname, "requirements.txt");
const ALIASES = "gpt-5.5=tiny-chat,gpt-4o=tiny-chat,gpt-4o-transcribe=tiny-speech";
/** Time limit, which is reached only if the client hangs. */
const LIMIT_MS = 600_000;
/** Messages of pip for an unreachable index, and for downloaded files that it rejects. */
const UNREACHED = /connection broken by|Failed to establish a new connection|ConnectTimeoutError/;
const REFUSED = /DO NOT MATCH THE HASHES|--require-hashes/;

interface Ended {
  readonly code: number | null;
  /** Output of stdout and stderr. */
  readonly text: string;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const installed = await install();
  if (installed !== null) {
    const isUnreached = UNREACHED.test(installed) && !REFUSED.test(installed);
    process.stdout.write(isUnreached ? "skipped: no PyPI\n" : `${installed}\nThe Python client cannot be installed\n`);
    return isUnreached ? 0 : 1;
  }
  const { code, text } = await withNetwork((env) =>
    run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", import.meta.dirname], env),
  );
  process.stdout.write(text);
  return code ?? 1;
}

/** Creates the environment. Returns null, or pip's output if that fails. */
async function install(): Promise<string | null> {
  mkdirSync(join(VENV, ".."), { recursive: true });
  const made = await run(["/usr/bin/python3", "-m", "venv", VENV]);
  if (made.code !== 0) return made.text;
  const pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
  // One retry, since pip requests each package from an unreachable index.
  const limits = ["--retries", "1", "--timeout", "20"];
  const { code, text } = await run([
    ...pip,
    ...limits,
    "--only-binary",
    ":all:",
    "--require-hashes",
    "-r",
    REQUIREMENTS,
  ]);
  return code === 0 ? null : text;
}

async function withNetwork(test: (env: Record<string, string>) => Promise<Ended>): Promise<Ended> {
  await using network = await Network.open(["--catalog-directory", makeCatalog(["tiny-chat", "tiny-speech"])], {
    ATOLL_MODEL_ALIASES: ALIASES,
    ATOLL_WEBHOOK_ALLOW_PRIVATE: "true",
  });
  const { key, islandToken } = network.createAccount("python@example.com");
  await network.startIsland("island", islandToken, { "cargos.allow_runtimes": "llmcpp,onnx" });
  await using receiver = await WebhookReceiver.start();
  const job = { workload: "tiny-chat", input: { prompt: "Hi", max_tokens: 1 }, webhook_url: receiver.url };
  const { body } = await call(network.url, key, "POST", "/jobs", job);
  const { text, headers } = await receiver.next();
  const file = join(network.directory, "webhook.json");
  writeFileSync(file, text);
  return await test({
    OPENAI_BASE_URL: `${network.url}/v1`,
    OPENAI_API_KEY: key,
    PYTHONDONTWRITEBYTECODE: "1",
    WEBHOOK_BODY: file,
    WEBHOOK_SECRET: body.data.webhook_secret,
    WEBHOOK_ID: headers["webhook-id"] ?? "",
    WEBHOOK_TIMESTAMP: headers["webhook-timestamp"] ?? "",
    WEBHOOK_SIGNATURE: headers["webhook-signature"] ?? "",
  });
}

function run([command = "", ...args]: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, timeout: LIMIT_MS });
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  child.stderr.on("data", (part: Buffer) => parts.push(part));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text: Buffer.concat(parts).toString() }));
  });
}
