import { checkToken } from "../session/check-token.ts";
import { storeKey } from "../config/config-file.ts";
import { isIslandToken } from "../session/island-token.ts";
import { CliError } from "./cli-error.ts";

/**
 * Stores coordinator and token after the coordinator has accepted them.
 * @throws {CliError} when the address or the token is not right; nothing is stored then.
 */
export async function joinNetwork(options: { url: string; token: string; dataDirectory: string }): Promise<void> {
  const { url, token, dataDirectory } = options;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError(`"${url}" is not an http or https address`);
  }
  if (!isIslandToken(token)) {
    throw new CliError("The token is not an Island token: those begin with it_ and have 43 characters");
  }
  const checked = await checkToken(url, token);
  if (!checked.ok) throw new CliError(`Not joined: ${checked.reason}`);
  await storeKey(dataDirectory, "coordinator.api_url", url);
  await storeKey(dataDirectory, "coordinator.token", token);
}
