import { describeCount } from "../../shared/cli/describe-count.ts";
import { readFile } from "node:fs/promises";
import { abortable } from "../../shared/async/abortable.ts";
import { fixed, flexible, tableOf } from "../../shared/cli/text-table.ts";
import { CliError } from "../../shared/errors.ts";
import { readConfigFile, storeKeys } from "../config/config-file.ts";
import { resolveAgentConfig, variableOfKey, type AgentConfig } from "../config/resolve-agent-config.ts";
import { readEngineUrls } from "../config/agent-settings.ts";
import { checkEngines, describeExamined, type ExaminedEngine } from "../doctor/engine-check.ts";
import type { EngineStatus } from "../runtimes/engine/attached-engine.ts";
import { describeModel } from "../runtimes/engine/describe-engine.ts";
import { EngineFailure } from "../runtimes/engine/engine-connection.ts";
import { assertAllowed } from "../runtimes/engine/engines.ts";
import { inspectEngine, type InspectedEngine } from "../runtimes/engine/inspect-engine.ts";
import { ENGINE_PROFILES } from "../runtimes/engine/profiles/profiles.ts";
import { readCoordinatorKey } from "../session/check-token.ts";
import { applyChange } from "./config-command.ts";
import { readStatus } from "./status-command.ts";

const URLS = "engines.urls";
const KEY = "engines.api_key";
/** Longest look at one port. */
const MAX_LOOK_MS = 2_000;
const NONE_LENT = "No engine is lent. Look for engines with: island engines find";
const MAX_ADD_MS = 10_000;
export const USUAL_PORTS = [...new Set(ENGINE_PROFILES.flatMap(({ ports }) => ports))];

/** Island on which the commands work. */
export interface EnginesLocation {
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A server that looks like an engine. */
export interface FoundEngine {
  readonly url: string;
  /** Whether this Island lends it already. */
  readonly isLent: boolean;
  /** Null: it requires an API key. */
  readonly engine: InspectedEngine | null;
}

/** Looks for engines on this machine, without changing anything. No API key is sent to servers that are not lent. */
export async function findEngines(
  location: EnginesLocation,
  ports: readonly number[] = USUAL_PORTS,
): Promise<FoundEngine[]> {
  const { engines } = await readConfig(location);
  const found = await Promise.all(ports.map((port) => lookAt(`http://127.0.0.1:${port}`, engines)));
  return found.filter((each) => each !== null);
}

async function lookAt(url: string, { urls, apiKey }: AgentConfig["engines"]): Promise<FoundEngine | null> {
  const isLent = urls.some((each) => isSameAddress(each, url));
  const inspected = inspectEngine(url, isLent ? apiKey : null, MAX_LOOK_MS).catch((error: unknown) =>
    // Undefined: another server, or none.
    error instanceof EngineFailure && error.needsKey ? null : undefined,
  );
  const [engine, isCoordinator] = await Promise.all([inspected, hasCoordinator(url)]);
  return engine === undefined || isCoordinator ? null : { url, isLent, engine };
}

/** Returns the result of {@link findEngines} as text. @param addLine returns the command that lends an engine. */
export function describeFound(found: readonly FoundEngine[], addLine: (url: string) => string): string {
  if (found.length === 0) {
    return `No engine was found at the usual ports (${USUAL_PORTS.join(", ")}). If one runs at another port, lend it with: ${addLine("URL")}`;
  }
  return found
    .flatMap(({ url, isLent, engine }) => [
      engine === null ? `A server at ${url} requires an API key` : `${describeInspected(engine)} at ${url}`,
      ...(engine?.models ?? []).map((model) => `  ${describeModel(model)}`),
      isLent ? "  Already lent" : `  To lend it: ${addLine(url)}`,
    ])
    .join("\n");
}

/** Returns "Ollama with 3 models", and the slots if it reports them. */
export function describeInspected({ name, models, slots }: InspectedEngine): string {
  const number = slots === null ? "" : ` and ${describeCount(slots, "slot")}`;
  return `${name} with ${describeCount(models.length, "model")}${number}`;
}

/** Where the API key of an engine comes from, if it requires one. */
export interface KeySource {
  readonly file?: string | undefined;
  /** Asks the user; null without a terminal. */
  readonly ask: (() => Promise<string>) | null;
}

export interface AddedEngine extends InspectedEngine {
  readonly url: string;
  /** What the running agent does with the change; null: none runs. */
  readonly hint: string | null;
}

/** Runs `island engines add`: lends an engine that responds. @throws {CliError} {ConfigError} nothing is stored then. */
export async function addEngine(location: EnginesLocation, given: string, keys: KeySource): Promise<AddedEngine> {
  const url = readEngineUrl(given);
  const { engines } = await readConfig(location);
  const { urls, allowRemote } = engines;
  assertNotOverridden(location);
  if (urls.some((each) => isSameAddress(each, url))) {
    throw new CliError(`${url} is lent already. To see its state: island engines check`);
  }
  assertAllowed({ urls: [url], allowRemote });
  if (await hasCoordinator(url)) {
    throw new CliError(`${url} is an Atoll coordinator, not an engine. Give the URL of the engine`);
  }
  const givenKey = keys.file === undefined ? null : await readKeyFile(keys.file);
  const { apiKey, engine } = await inspectWithKey(url, givenKey ?? engines.apiKey, givenKey === null ? keys.ask : null);
  if (apiKey !== engines.apiKey && engines.apiKey !== null && urls.length > 0) {
    throw new CliError(
      `All engines share one API key (${KEY}), and the engines that are lent already have another. Give all of them the same key`,
    );
  }
  await storeKeys(location.dataDirectory, {
    [URLS]: [...urls, url].join(","),
    ...(apiKey === null ? {} : { [KEY]: apiKey }),
  });
  return { ...engine, url, hint: await applyChange(location.dataDirectory, URLS) };
}

/** Asks for a key if the engine requires another one. @throws {CliError} if the engine cannot be lent. */
async function inspectWithKey(
  url: string,
  apiKey: string | null,
  ask: KeySource["ask"],
): Promise<{ apiKey: string | null; engine: InspectedEngine }> {
  try {
    return { apiKey, engine: await inspectEngine(url, apiKey, MAX_ADD_MS) };
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    if (!error.needsKey) throw new CliError(`Not lent: ${error.message}`, { cause: error });
    if (ask !== null) return inspectWithKey(url, (await ask()).trim(), null);
    const reason = apiKey === null ? "requires an API key" : "rejects the API key";
    throw new CliError(`Not lent: the engine at ${url} ${reason}. Give its key in a file: --api-key-file FILE`, {
      cause: error,
    });
  }
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (cause) {
    throw new CliError(`Cannot read the API key from ${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the result of {@link addEngine} as text. @param startLine the command that starts the agent. */
export function describeAdded(added: AddedEngine, startLine: string): string {
  const declared = added.models.filter(({ identity }) => identity === "declared");
  return [
    `Lends ${describeInspected(added)} at ${added.url}. ${added.hint ?? `It gets jobs after: ${startLine}`}`,
    ...(added.models.length === 0 ? ["It gets jobs when it serves a model"] : []),
    ...declared.map((model) => `  ${describeModel(model)}`),
  ].join("\n");
}

/** Returns the lent engines, after connecting to each. */
export async function checkLentEngines(location: EnginesLocation): Promise<ExaminedEngine[]> {
  const config = await readConfig(location);
  const status = await readStatus(location.dataDirectory);
  return checkEngines(config, status?.engines ?? []);
}

export function describeChecked(checked: readonly ExaminedEngine[]): string {
  return checked.flatMap(describeExamined).join("\n") || NONE_LENT;
}

export interface ListedEngine {
  readonly url: string;
  /** Null: no agent runs. */
  readonly status: EngineStatus | null;
}

/** Returns the lent engines, with their states if an agent runs. */
export async function listEngines(location: EnginesLocation): Promise<ListedEngine[]> {
  const { engines } = await readConfig(location);
  const { engines: running = [] } = (await readStatus(location.dataDirectory)) ?? {};
  return engines.urls.map((url) => ({ url, status: running.find((each) => each.url === url) ?? null }));
}

const COLUMNS = [flexible("URL"), fixed("ENGINE"), fixed("STATE"), fixed("SLOTS"), flexible("MODELS")];

export function describeList(listed: readonly ListedEngine[], width: number): string {
  if (listed.length === 0) return NONE_LENT;
  const rows = listed.map(({ url, status }) =>
    status === null
      ? [url, "", "no agent runs", "", ""]
      : [url, status.name ?? "", status.state, String(status.slots), status.models.join(", ")],
  );
  return tableOf(COLUMNS, rows, { width });
}

/** Runs `island engines remove`. @returns a line for the user. @throws {CliError} if the engine is not lent. */
export async function removeEngine(location: EnginesLocation, given: string): Promise<string> {
  const url = readEngineUrl(given);
  const { urls } = (await readConfig(location)).engines;
  assertNotOverridden(location);
  const left = urls.filter((each) => !isSameAddress(each, url));
  if (left.length === urls.length) {
    throw new CliError(`${url} is not lent. List the engines with: island engines list`);
  }
  const isLast = left.length === 0;
  await storeKeys(location.dataDirectory, {
    [URLS]: isLast ? null : left.join(","),
    ...(isLast ? { [KEY]: null } : {}),
  });
  const hint = await applyChange(location.dataDirectory, URLS);
  return `Removed ${url}${hint === null ? "" : `. ${hint}`}`;
}

async function readConfig({ dataDirectory, env }: EnginesLocation): Promise<AgentConfig> {
  return resolveAgentConfig({ flags: {}, env, file: await readConfigFile(dataDirectory) });
}

/** @throws {CliError} if the commands' changes of the file would have no effect. */
function assertNotOverridden({ env }: EnginesLocation): void {
  const variable = variableOfKey(URLS);
  if ((env[variable] ?? "") !== "") {
    throw new CliError(`The variable ${variable} overrides the settings file. Change the variable, or unset it`);
  }
}

/** Returns the URL as in the settings. @throws {CliError} */
function readEngineUrl(given: string): string {
  const [url, ...others] = readEngineUrls(given) ?? [];
  if (url === undefined || others.length > 0) {
    const hint = /^[\w.-]+:\d+(?:\/|$)/.test(given) ? `. Did you mean http://${given}?` : "";
    throw new CliError(`URL of the engine: must begin with http:// or https://, got "${given}"${hint}`);
  }
  const { username, password } = new URL(url);
  if (username === "" && password === "") return url;
  throw new CliError("URL of the engine: must not contain a user name and password. Remove the part before the @");
}

function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => url.replace("//localhost", "//127.0.0.1"));
  return first === second;
}

/** A coordinator has OpenAI's API, too, but lending it would send its jobs in circles. */
async function hasCoordinator(url: string): Promise<boolean> {
  const key = await abortable(readCoordinatorKey(url), AbortSignal.timeout(MAX_LOOK_MS)).catch(() => null);
  return key?.ok === true;
}
