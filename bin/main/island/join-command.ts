import type { Command } from "commander";
import type { JoinCredential } from "../../../island-agent/cli/join-command.ts";
import { isAgentRunning } from "../../../island-agent/control/control-client.ts";
import { plain } from "../../../shared/cli/plain-text.ts";
import { askSecret, canAsk, readSecret } from "../terminal/ask.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import { startLine } from "./start-line.ts";

interface JoinFlags {
  readonly data?: string;
  readonly token?: string;
  readonly code?: string;
  readonly fingerprint?: string;
  readonly newCoordinator?: true;
  readonly json?: true;
}

/** Adds `island join`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addJoinCommand(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: JoinFlags) => string,
): void {
  onDataDirectory(program.command("join"))
    .description("Store the coordinator's address and key and this Island's token, once.")
    .argument(
      "<url...>",
      "the coordinator, for example https://atoll.example; of a network with several, any that this machine reaches",
    )
    .option(
      "--code <ABCD-EFGH>",
      "pairing code of your account, valid for ten minutes and once; without code and token, join asks",
    )
    .option(
      "--token <it_…>",
      "Island token in place of a code; - reads it from standard input (default: $ISLAND_COORDINATOR_TOKEN). Others see a token that is written here in the process list",
    )
    .option(
      "--fingerprint <SHA256:…>",
      "fingerprint of the coordinator's key, from its operator; without it the key is trusted at the first join. With it, a coordinator that has a new key needs no new code",
    )
    .option("--new-coordinator", "join a different coordinator than before and trust its key")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  island join https://atoll.example                      asks for the code
  island join https://atoll.example --code ABCD-EFGH
  island join https://atoll.example --token - < token.txt`,
    )
    .action(async (given: string[], options: JoinFlags) => {
      const { joinNetwork, plainHttpWarning, readJoinAddress, storedToken } =
        await import("../../../island-agent/cli/join-command.ts");
      const dataDirectory = dataDirectoryOf(options);
      const { addresses, code } = takeSplitCode(given, options.code);
      // Before anything is asked for.
      const urls = addresses.map(readJoinAddress);
      for (const url of urls) {
        const warning = plainHttpWarning(url);
        if (warning !== null) console.error(plain(warning));
      }
      const isSameNetwork = options.fingerprint !== undefined && options.newCoordinator !== true;
      const stored = isSameNetwork ? await storedToken(dataDirectory, urls) : null;
      const fingerprint = await joinNetwork({
        urls,
        credential: await readCredential({ ...options, code }, stored),
        fingerprint: options.fingerprint,
        isNewCoordinator: options.newCoordinator === true,
        dataDirectory,
      });
      const isRunning = await isAgentRunning(dataDirectory);
      const next = startLine(options);
      const advice = isRunning
        ? `The running agent still has the old settings: end it with island drain, then ${next}`
        : `Next: ${next}`;
      const lines = [`Joined ${urls.join(", ")}. ${advice}`, `Only Cargos signed by its key run here: ${fingerprint}`];
      print(options, { urls, fingerprint, next }, lines.join("\n"));
    });
}

/** A code that was written with a space and without quotes: its second half stands among the addresses. */
export function takeSplitCode(
  given: readonly string[],
  code: string | undefined,
): { readonly addresses: readonly string[]; readonly code: string | undefined } {
  const half = /^[0-9A-Za-z]{4}$/;
  const rest = code !== undefined && half.test(code) ? given.find((each) => half.test(each)) : undefined;
  return rest === undefined
    ? { addresses: given, code }
    : { addresses: given.filter((each) => each !== rest), code: `${code}${rest}` };
}

/**
 * From the flags, standard input, the environment, an earlier join or the terminal: other users of the machine can read flags.
 * @param stored the token of an earlier join, if it may be used again.
 * @throws {CliError}
 */
async function readCredential(
  { token: flag, code }: { token?: string; code: string | undefined },
  stored: string | null,
): Promise<JoinCredential> {
  if (code !== undefined) {
    if (flag !== undefined) throw new UsageError("Give --code or --token, not both");
    return { code };
  }
  if (flag === "-") return { token: (await readSecret("Island token: ")).trim() };
  const token = flag ?? process.env["ISLAND_COORDINATOR_TOKEN"];
  if (token !== undefined) return { token };
  if (stored !== null) return { token: stored };
  if (!canAsk()) {
    throw new UsageError("No code or token: give --code, set ISLAND_COORDINATOR_TOKEN, or pipe a token to --token -");
  }
  const typed = (await askSecret("Pairing code or Island token (not shown): ")).trim();
  return typed.startsWith("it_") ? { token: typed } : { code: typed };
}
