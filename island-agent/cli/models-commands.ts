import { engineSearch } from "../runtimes/create-runtimes.ts";
import { access } from "node:fs/promises";
import type { Clock } from "../../shared/clock.ts";
import { readConfigFile } from "../config/config-file.ts";
import { resolveAgentConfig } from "../config/resolve-agent-config.ts";
import { getFromAgent, ControlRefusal, isAgentRunning, postToAgent } from "../control/control-client.ts";
import { modelDirectoryOf, openStores, type OpenStores } from "../artifacts/open-stores.ts";
import { describeDownload } from "../artifacts/describe-download.ts";
import type { LoadedReport } from "../execution/cargo-pool.ts";
import type { PullStatus } from "../preload/owner-pulls.ts";
import { openStoredFiles, type StoredFiles, type ListedArtifact } from "../artifacts/stored-files.ts";
import { CliError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { fixed, flexible, tableOf } from "../../shared/cli/text-table.ts";
import type { ProgressLine } from "./progress-bar.ts";

/** Island on which the commands work. */
export interface ModelsLocation {
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

const POLL_MS = 200;
/** Time limit of a deletion. Deleting tens of gigabytes takes long on slow disks. */
const MAX_DELETE_MS = 120_000;
const NONE_IN_USE: ReadonlySet<string> = new Set();

/** Runs `island models ls`. Like `rm` and `prune`, it asks the running agent, or opens the directory itself. */
export async function listModels(location: ModelsLocation): Promise<ListedArtifact[]> {
  const items = await getFromAgent<ListedArtifact[]>(location.dataDirectory, "/models");
  if (items !== undefined) return items;
  // Opening the stores would create the directory.
  const isThere = await access(modelDirectoryOf(location.dataDirectory)).then(
    () => true,
    () => false,
  );
  return isThere ? withStored(location, async (stored) => stored.list()) : [];
}

/**
 * Runs `island models rm`. @returns a line for the user.
 * @throws {CliError} when no artifact has that name, or it is in use.
 */
export async function removeModel(location: ModelsLocation, name: string): Promise<string> {
  const freed = await post<number>(location, "/models/remove", { name });
  return `Freed ${formatBytes(freed ?? (await withStored(location, (stored) => stored.remove(name))))}`;
}

/** Runs `island models prune`: deletes all artifacts that are not in use. @returns a line for the user. */
export async function pruneModels(location: ModelsLocation): Promise<string> {
  const freed = await post<number>(location, "/models/prune", {});
  return `Freed ${formatBytes(freed ?? (await withStored(location, (stored) => stored.prune())))}`;
}

/**
 * Runs `island models unload`: unloads Cargos that no job uses. Their files stay.
 * @param slug undefined for all.
 * @returns a line for the user.
 * @throws {CliError} when the Cargo is not loaded, or a job uses it.
 */
export async function unloadModels(location: ModelsLocation, slug: string | undefined): Promise<string> {
  const unloaded = await post<LoadedReport[]>(location, "/models/unload", { name: slug });
  if (unloaded === undefined)
    throw new CliError("No agent is running on this data directory, so no Cargo is in memory");
  if (unloaded.length === 0) return "No idle Cargo is in memory";
  const bytes = unloaded.reduce((sum, { ramBytes, vramBytes }) => sum + ramBytes + vramBytes, 0);
  return `Unloaded ${unloaded.map((each) => each.slug).join(", ")}: ${formatBytes(bytes)} of memory`;
}

/**
 * Runs `island models pull`: the running agent requests the Cargo from its coordinator and downloads its files. The
 * download continues when this command is interrupted.
 * @returns a line for the user.
 * @throws {CliError} when no agent runs, or the download fails.
 */
export async function pullModel(location: ModelsLocation, slug: string, progress: ProgressLine): Promise<string> {
  let pulls = await post<PullStatus[]>(location, "/models/pull", { name: slug });
  if (pulls === undefined) {
    throw new CliError("No agent is running on this data directory. Start one with island start, then pull again");
  }
  try {
    for (;;) {
      const pull = pulls?.find((each) => each.slug === slug);
      if (pull === undefined)
        throw new CliError(
          "The agent has stopped. Start it and pull again; the download continues from the stored data",
        );
      if (pull.state === "failed") throw new CliError(`Cannot pull ${slug}: ${pull.detail}`);
      progress.show(`${slug}: ${pull.state}`, pull.fraction, describeDownload(pull.download ?? {}));
      if (pull.state === "on disk") return `${slug} is on disk`;
      await location.clock.sleep(POLL_MS);
      pulls = await getFromAgent<PullStatus[]>(location.dataDirectory, "/models/pulls");
    }
  } finally {
    progress.stop();
  }
}

/** Returns the list as a table. @param width of the terminal. */
export function describeModels(items: readonly ListedArtifact[], width: number): string {
  if (items.length === 0) return "No models or images on disk";
  const rows = items.map((item) => [
    item.cargos.join(", ") || item.key,
    formatBytes(item.bytes),
    new Date(item.lastUsedMs).toISOString().slice(0, 16).replace("T", " "),
    stateOf(item),
  ]);
  return tableOf([flexible("CARGO"), fixed("SIZE"), fixed("LAST USED (UTC)"), flexible("NOTE")], rows, { width });
}

function stateOf({ kind, isWhole, inUse, usedBy }: ListedArtifact): string {
  const what = kind === "part" || !isWhole ? ["incomplete"] : [];
  if (inUse) what.push(usedBy.length === 0 ? "in use" : `in use by ${usedBy.join(", ")}`);
  return what.join(", ");
}

/**
 * Runs `use` with a function that adopts a verified file of the models' directory: in the running agent, or in the
 * store itself.
 * @see ModelStore.adopt
 */
export async function withAdoption<T>(
  location: ModelsLocation,
  use: (adopt: OpenStores["adopt"]) => Promise<T>,
): Promise<T> {
  if (!(await isAgentRunning(location.dataDirectory))) return withStores(location, ({ adopt }) => use(adopt));
  return use(async (file) => {
    const isNew = await post<boolean>(location, "/models/adopt", file);
    if (isNew === undefined) throw new CliError("The agent has stopped. Try again");
    return isNew;
  });
}

/** Sends a command like `postToAgent`. Turns a refusal into an error for the user. */
async function post<T>({ dataDirectory }: ModelsLocation, path: string, body: object): Promise<T | undefined> {
  try {
    return await postToAgent<T>(dataDirectory, path, body, MAX_DELETE_MS);
  } catch (error) {
    throw error instanceof ControlRefusal ? new CliError(error.message) : error;
  }
}

function withStored<T>(location: ModelsLocation, use: (stored: StoredFiles) => Promise<T>): Promise<T> {
  const nothingToUnload = async (): Promise<void> => undefined;
  return withStores(location, ({ artifacts, names }) =>
    use(openStoredFiles(artifacts, names, () => NONE_IN_USE, nothingToUnload)),
  );
}

/** Opens the stores in this process, while no agent runs. @throws {CliError} when another process has them open. */
async function withStores<T>(location: ModelsLocation, use: (stores: OpenStores) => Promise<T>): Promise<T> {
  const { dataDirectory, env, clock } = location;
  const config = resolveAgentConfig({ flags: {}, env, file: await readConfigFile(dataDirectory) });
  await using stores = await openStores(
    dataDirectory,
    config,
    engineSearch(env, { platform: process.platform }),
    clock,
  );
  return await use(stores);
}
