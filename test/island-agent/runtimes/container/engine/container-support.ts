import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CargoManifest, ContainerSpec } from "../../../../../shared/cargo.ts";
import { systemClock } from "../../../../../shared/clock.ts";
import type { OutputItem } from "../../../../../shared/output.ts";
import {
  ContainerRuntime,
  type ContainerRuntimeOptions,
} from "../../../../../island-agent/runtimes/container/container-runtime.ts";
import { findEngine } from "../../../../../island-agent/runtimes/container/find-engine.ts";
import { ImageStore, type ImageStoreOptions } from "../../../../../island-agent/runtimes/container/image-store.ts";
import type { LoadedContainer } from "../../../../../island-agent/runtimes/container/loaded-container.ts";
import type { RunResult } from "../../../../../island-agent/runtimes/runtime.ts";
import { TEST_IMAGE, type TestEngine } from "../../../../support/servers/container-engine.ts";

export const NEVER = new AbortController().signal;
export const MIB = 1_048_576;

/** A Cargo whose program is a shell script. */
export function makeCargo(script: string, overrides: Partial<ContainerSpec> = {}, ramBytes = 48 * MIB): CargoManifest {
  const command = ["/bin/sh", "-c", script];
  return {
    slug: "a-container",
    runtimeType: "container",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: ramBytes,
    requiredVramBytes: 0,
    contextTokens: null,
    container: { image: TEST_IMAGE, digest: null, command, gpu: false, network: false, ...overrides },
  };
}

/** Runs the shell commands in the job's input. The mode `capture` returns their output as the job's output. */
const SHELL = `
read -r job
work=$(echo "$job" | sed 's/.*"work":"\\([^"]*\\)".*/\\1/' | base64 -d)
case "$job" in
  *capture*) text=$( { eval "$work"; } 2>&1 | tr '\\n\\t"\\\\' "  '/"); echo "{\\"type\\":\\"done\\",\\"output\\":\\"$text\\"}" ;;
  *) eval "$work" ;;
esac`;

/** A runtime on the tests' engine, for a separate Island. */
export class ContainerWorld {
  readonly engine: TestEngine;
  readonly runtime: ContainerRuntime;
  readonly images: ImageStore;
  readonly islandId: string;
  readonly directory: string;
  readonly #loaded: LoadedContainer[] = [];
  /** One Cargo for each image. */
  readonly #shells = new Map<string, Promise<LoadedContainer>>();

  private constructor(
    engine: TestEngine,
    parts: Pick<ContainerWorld, "runtime" | "images" | "islandId" | "directory">,
  ) {
    this.engine = engine;
    this.runtime = parts.runtime;
    this.images = parts.images;
    this.islandId = parts.islandId;
    this.directory = parts.directory;
  }

  static async open(
    engine: TestEngine,
    options: Partial<ContainerRuntimeOptions> = {},
    imageOptions: Partial<ImageStoreOptions> = {},
  ): Promise<ContainerWorld> {
    const directory = await mkdtemp(join(tmpdir(), "atoll-images-"));
    const search = { environment: { DOCKER_HOST: engine.host }, platform: process.platform };
    const images = await ImageStore.open({
      directory,
      budgetBytes: 1e9,
      minFreeBytes: 0,
      allowedRegistries: ["docker.io"],
      findEngine: async (signal) => (await findEngine(search, systemClock, signal)).engine,
      clock: systemClock,
      ...imageOptions,
    });
    const islandId = crypto.randomUUID();
    const runtime = new ContainerRuntime({
      search,
      images,
      islandId,
      clock: systemClock,
      cpus: 1,
      concurrency: 2,
      ramBytes: 1e9,
      hasGpu: false,
      // egress.system.test.ts tests the rules in a separate network namespace.
      egress: { platform: "linux", nft: ["/bin/true"] },
      ...options,
    });
    return new ContainerWorld(engine, { runtime, images, islandId, directory });
  }

  async load(cargo: CargoManifest): Promise<LoadedContainer> {
    const loaded = await this.runtime.load(cargo, null, NEVER);
    this.#loaded.push(loaded);
    return loaded;
  }

  /** Loads a Cargo, runs it once and unloads it. */
  async run(
    cargo: CargoManifest,
    input: Readonly<Record<string, unknown>> = {},
    signal: AbortSignal = NEVER,
    onOutput?: (item: OutputItem) => void,
  ): Promise<RunResult & { items: OutputItem[] }> {
    await using loaded = await this.load(cargo);
    const items: OutputItem[] = [];
    const take = (item: OutputItem): void => {
      items.push(item);
      onOutput?.(item);
    };
    return { ...(await loaded.run({ input, resume: null }, take, signal)), items };
  }

  /** Runs shell commands in a container. Their output must follow the output protocol. */
  async shell(work: string, image = TEST_IMAGE): Promise<RunResult> {
    return this.#runShell(work, image, {});
  }

  /** Runs shell commands and returns what they print, as one line. */
  async capture(work: string, image = TEST_IMAGE): Promise<unknown> {
    return (await this.#runShell(work, image, { mode: "capture" })).output;
  }

  async #runShell(work: string, image: string, extra: object): Promise<RunResult> {
    const shell = this.#shells.get(image) ?? this.load(makeCargo(SHELL, { image }));
    this.#shells.set(image, shell);
    const input = { work: Buffer.from(work).toString("base64"), ...extra };
    return (await shell).run({ input, resume: null }, () => undefined, NEVER);
  }

  /** Returns why the engine at this address cannot be used, or "" if it can be used. */
  async probeAt(dockerHost: string): Promise<string> {
    const search = { environment: { DOCKER_HOST: dockerHost }, platform: process.platform };
    const options = { search, images: this.images, islandId: this.islandId, clock: systemClock };
    const runtime = new ContainerRuntime({ ...options, cpus: 1, concurrency: 1, ramBytes: 1e9, hasGpu: false });
    const result = await runtime.probe(NEVER);
    return result.usable ? "" : result.reason;
  }

  /** Number of containers of this Island, running or not. */
  async containers(): Promise<number> {
    return (await this.containerIds()).length;
  }

  /** Ids of the containers of this Island, running or not. */
  async containerIds(): Promise<string[]> {
    const filters = { label: [`org.atoll.island=${this.islandId}`] };
    return (await this.engine.docker.listContainers({ all: true, filters })).map(({ Id: id }) => id);
  }

  /** Ends every Cargo that was loaded. */
  async unload(): Promise<void> {
    this.#shells.clear();
    await Promise.all(this.#loaded.splice(0).map((loaded) => loaded[Symbol.asyncDispose]()));
  }

  async close(): Promise<void> {
    await this.unload();
    await this.images.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Writes three words, or one word forever if its input contains `forever`. */
export const TALKER = `
read -r job
case "$job" in
  *forever*) while :; do echo '{"type":"token","content":"on "}'; sleep 0.02; done ;;
esac
for word in one two three; do echo "{\\"type\\":\\"token\\",\\"content\\":\\"$word \\"}"; done
echo '{"type":"done"}'`;
export const LONG = { forever: true };
