import { createHash } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AccountLimits } from "../../../coordinator/store/accounts/accounts.ts";
import type { NewAccount } from "../../support/store/account-rows.ts";
import { call, until } from "../../support/http/http.ts";
import { Network } from "../../support/network/network.ts";
import { makeCatalog, SHIPPED_CATALOG } from "../../support/small-catalog.ts";
import { Recorder } from "./recorder.ts";
import { ScriptedIsland } from "./scripted-island.ts";

/** Coding agents send prompts of up to 40,000 tokens of the demo model. */
const LONG_CONTEXT = 65_536;
/** A category that the real Island does not run. */
const SCRIPTED_CATEGORY = "text";

/**
 * A network for clients. Its Cargos: `tiny-chat` (context 1,024), `tiny-long` (the same weights with a context of
 * 65,536) and `scripted`, whose output the test scripts.
 */
export class ClientNetwork implements AsyncDisposable {
  readonly network: Network;
  readonly recorder: Recorder;
  readonly scripted: ScriptedIsland;
  readonly #account: NewAccount;

  private constructor(network: Network, recorder: Recorder, scripted: ScriptedIsland, account: NewAccount) {
    this.network = network;
    this.recorder = recorder;
    this.scripted = scripted;
    this.#account = account;
  }

  /** @param env variables of the coordinator. */
  static async open(env: Record<string, string> = {}): Promise<ClientNetwork> {
    const network = await Network.open(["--catalog-directory", catalogOfClients()], env);
    const account = network.createAccount("clients@example.com");
    const settings = { "cargos.allow_categories": "llm" };
    await network.startIsland("island", account.islandToken, settings);
    const scripted = await ScriptedIsland.join(network.url, account.islandToken, SCRIPTED_CATEGORY);
    return new ClientNetwork(network, await Recorder.open(network.url), scripted, account);
  }

  /** Address for clients, without a path. Requests to it are recorded. */
  get url(): string {
    return this.recorder.url;
  }

  get key(): string {
    return this.#account.key;
  }

  /** Another account, for the limits of a test. */
  createAccount(email: string, limits: Partial<AccountLimits>): NewAccount {
    return this.network.createAccount(email, 1_000, limits);
  }

  /** Starts an Island for `tiny-embed`, which returns embeddings of 32 dimensions and ranks documents. */
  async startEmbedder(): Promise<void> {
    const settings = { "cargos.allow_categories": "text", "cargos.allow_runtimes": "onnx" };
    await this.network.startIsland("embedder", this.#account.islandToken, settings);
  }

  /** Waits until the account's latest job has the status. */
  async latestJobIs(status: string, key = this.key): Promise<void> {
    const latest = () => call(this.network.url, key, "GET", "/jobs?limit=1");
    await until(latest, ({ body }) => body.data[0]?.status === status, `the latest job is ${status}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scripted[Symbol.asyncDispose]();
    await this.recorder[Symbol.asyncDispose]();
    await this.network[Symbol.asyncDispose]();
  }
}

function catalogOfClients(): string {
  const directory = makeCatalog(["tiny-chat", "tiny-embed"]);
  const models = join(directory, "models");
  rmSync(models);
  cpSync(join(SHIPPED_CATALOG, "models"), models, { recursive: true });
  const tiny = JSON.parse(readFileSync(join(directory, "cargos", "tiny-chat.json"), "utf8")) as object;
  const add = (slug: string, change: object): void =>
    writeFileSync(join(directory, "cargos", `${slug}.json`), JSON.stringify({ ...tiny, slug, ...change }));
  const weights = withContext(readFileSync(join(models, "tiny-islander.gguf")), LONG_CONTEXT);
  writeFileSync(join(models, "tiny-long.gguf"), weights);
  const sha256 = createHash("sha256").update(weights).digest("hex");
  const model = { url: "/models/tiny-long.gguf", sha256, size_bytes: weights.length };
  add("tiny-long", { model, context_tokens: LONG_CONTEXT, required_ram_mb: 1_024 });
  add("scripted", { context_tokens: LONG_CONTEXT, category: SCRIPTED_CATEGORY });
  return directory;
}

/**
 * Weights whose header names another context, because the runtime accepts no prompt longer than the context of the
 * model's training.
 */
function withContext(weights: Buffer, tokens: number): Buffer {
  const key = "llama.context_length";
  const changed = Buffer.from(weights);
  // Four bytes between the key and its value contain the type.
  changed.writeUInt32LE(tokens, weights.indexOf(key) + key.length + 4);
  return changed;
}
