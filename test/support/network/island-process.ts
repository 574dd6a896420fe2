import { createPublicKey } from "node:crypto";
import { readSigningKey } from "../../../coordinator/islands/signing-key.ts";
import { openStore } from "../../../coordinator/store/open-store.ts";
import { fileSecrets } from "../../../coordinator/store/secrets/file-secrets.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import { storeKeys } from "../../../island-agent/config/config-file.ts";
import { publicKeyText } from "../../../shared/cargo-signature.ts";
import { systemClock } from "../../../shared/clock.ts";
import { Program } from "../program.ts";
import { accountOfToken } from "../store/account-rows.ts";

/**
 * Recommended models are remote, so nothing is preloaded unless a test serves it. The Island has few runtimes, because
 * probing each of them takes time.
 */
const QUIET = {
  threads: "1",
  gpu: "off",
  "models.preload": "false",
  "models.min_free_gb": "0",
  "cargos.allow_runtimes": "llmcpp",
};

/** The network that an Island joins: the data of its coordinators, and their addresses in the order of the setting. */
interface JoinedNetwork {
  readonly location: StoreLocation;
  readonly urls: readonly string[];
}

/**
 * Starts the process of an Island that has joined, and waits until it is connected. Writes the files that `island join`
 * and `island config set` would write, without starting a process for each.
 * @param settings keys of its configuration file
 */
export async function startIslandProcess(
  { location, urls }: JoinedNetwork,
  data: string,
  token: string,
  settings: Readonly<Record<string, string>> = {},
  env: Record<string, string> = {},
): Promise<Program> {
  await storeKeys(data, {
    "coordinator.public_key": await publicKeyOf(location),
    "coordinator.api_url": urls.join(","),
    "coordinator.token": token,
    "coordinator.account": accountOfToken(location, token),
    ...QUIET,
    ...settings,
  });
  const island = new Program("island", ["start", "--data", data], env);
  await island.printed(/connected to/);
  return island;
}

/** Returns the key that Islands pin, as `signing-key show` prints it. */
async function publicKeyOf(location: StoreLocation): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const secrets =
    typeof location === "string"
      ? fileSecrets(location)
      : stack.adopt(await openStore(location, systemClock), (store) => store.close()).secrets;
  const found = await readSigningKey(secrets);
  if (found === null) throw new Error("The coordinator has no signing key");
  return publicKeyText(createPublicKey(found.key));
}
