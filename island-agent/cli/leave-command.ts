import { CliError } from "../../shared/errors.ts";
import { readConfigFile, storeKeys } from "../config/config-file.ts";
import { resolveAgentConfig } from "../config/resolve-agent-config.ts";
import { isAgentRunning } from "../control/control-client.ts";
import { forgetHostId, readHostId } from "../hardware/host-id.ts";
import { listModels, pruneModels, type ModelsLocation } from "./models-commands.ts";

const MAX_RESPONSE_WAIT_MS = 10_000;
const REMOVE_HINT = "If the account still lists this Island, remove it in the console";

/** An Island's membership in a network, which `island leave` ends. */
interface Membership {
  /** Addresses of the coordinators. */
  readonly urls: readonly string[];
  readonly token: string;
  /** Disk space of the models and images. */
  readonly modelBytes: number;
}

/** @throws {CliError} when the Island has not joined, or an agent runs. */
export async function readMembership(location: ModelsLocation): Promise<Membership> {
  const { dataDirectory, env } = location;
  if (await isAgentRunning(dataDirectory)) {
    throw new CliError(
      `An agent is running on ${dataDirectory}. Stop it first, with island drain or by removing its service`,
    );
  }
  const { coordinator } = resolveAgentConfig({ flags: {}, env, file: await readConfigFile(dataDirectory) });
  const { apiUrls, token } = coordinator;
  if (apiUrls === null || token === null)
    throw new CliError(`${dataDirectory} has not joined a coordinator, so there is nothing to leave`);
  const models = await listModels(location);
  return { urls: apiUrls, token, modelBytes: models.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/**
 * Runs `island leave`: the coordinator deletes this Island, and this machine deletes token, address and key of the
 * coordinator. The settings stay. A token that other Islands use stays valid for them.
 * @returns lines for the user.
 */
export async function leaveNetwork(
  location: ModelsLocation,
  { urls, token }: Membership,
  deletesModels: boolean,
): Promise<string[]> {
  const { dataDirectory } = location;
  const hostId = await readHostId(dataDirectory);
  const outcome = hostId === null ? "The Island was never started" : await deleteIsland(urls, hostId, token);
  // The slow steps, which may fail, come first, so that the command can be repeated.
  const freed = deletesModels ? await pruneModels(location) : null;
  await storeKeys(dataDirectory, {
    "coordinator.public_key": null,
    "coordinator.api_url": null,
    "coordinator.token": null,
    "coordinator.account": null,
  });
  // Otherwise the Island could not rejoin with its former token.
  await forgetHostId(dataDirectory);
  return [
    `Left ${urls.join(", ")}. ${outcome}`,
    "Deleted the Island token, and the URL and key of the coordinator",
    freed ?? `The models stay in ${dataDirectory}`,
  ];
}

/** Asks one coordinator after the other to delete the Island. @returns the result, for the user. */
async function deleteIsland(urls: readonly string[], hostId: string, token: string): Promise<string> {
  let problem = "no response";
  for (const url of urls) {
    const status = await deleteAt(url, hostId, token);
    if (status === 200) return "The coordinator deleted this Island";
    if (status === 401) return `The coordinator rejected the token. ${REMOVE_HINT}`;
    // The coordinator is stopping or starting, or has an earlier version without this endpoint.
    if (status !== null) problem = `status ${status}`;
  }
  return `The coordinator did not delete this Island: ${problem}. ${REMOVE_HINT}`;
}

/** @returns the status; null without a response. */
async function deleteAt(coordinatorUrl: string, hostId: string, token: string): Promise<number | null> {
  try {
    const response = await fetch(`${coordinatorUrl}/api/v1/island?host_id=${hostId}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(MAX_RESPONSE_WAIT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}
