import type { Command } from "commander";
import type { JoinCredential } from "../../../island-agent/cli/join-command.ts";
import { isAgentRunning } from "../../../island-agent/control/control-client.ts";
import { plain } from "../../../shared/cli/plain-text.ts";
import { askOffer } from "../terminal/ask-again.ts";
import { askSecret, canAsk, readSecret } from "../terminal/ask.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import { islandLine } from "./island-line.ts";

interface JoinFlags {
  readonly data?: string;
  readonly token?: string;
  readonly code?: string;
  readonly fingerprint?: string;
  readonly newCoordinator?: true;
  readonly json?: true;
}

/** Adds `island join`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addJoinCommand(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: JoinFlags) => string,
): void {
  addDataOptions(program.command("join"))
    .description("Join a coordinator: store its URL and key, and the token of this Island")
    .argument(
      "<url...>",
      "URL of the coordinator, for example https://atoll.example; for a cluster, any coordinators that this machine can reach",
    )
    .option("--code <ABCD-EFGH>", "one-time pairing code from your account, valid for ten minutes (default: a prompt)")
    .option(
      "--token <it_…>",
      "Island token instead of a code, or - to read it from standard input (default: $ISLAND_COORDINATOR_TOKEN). Other users can see a token on the command line",
    )
    .option(
      "--fingerprint <SHA256:…>",
      "expected fingerprint of the coordinator's key, from its operator (default: trust the key at the first join). If the coordinator's key changed, join again with the new fingerprint; you need no new code",
    )
    .option("--new-coordinator", "join a different coordinator, and trust its key")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  island join https://atoll.example                      prompts for the code
  island join https://atoll.example --code ABCD-EFGH
  island join https://atoll.example --token - < token.txt`,
    )
    .action(async (given: string[], options: JoinFlags) => {
      const { joinNetwork, plainHttpWarning, readJoinAddress, storedToken } =
        await import("../../../island-agent/cli/join-command.ts");
      const dataDirectory = dataDirectoryOf(options);
      const { addresses, code } = takeSplitCode(given, options.code);
      // The addresses are checked before the first prompt.
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
      const next = islandLine("start", options);
      const joined = [`Joined ${urls.join(", ")}`, `Only Cargos signed with this key run here: ${fingerprint}`];
      // Before the questions, which the user may cancel.
      if (options.json !== true) print({}, null, joined.join("\n"));
      const engines = await offerEngines(dataDirectory, options);
      const advice = isRunning
        ? `The running agent keeps the old settings. Stop it with island drain, then run: ${next}`
        : `Next: ${next}`;
      print(options, { urls, fingerprint, next }, [...engines, advice].join("\n"));
    });
}

/**
 * Asks whether to lend each engine that runs here. Without a terminal, or with --json, it does not ask.
 * @returns lines for the user.
 */
async function offerEngines(dataDirectory: string, options: JoinFlags): Promise<string[]> {
  const { addEngine, describeInspected, findEngines } = await import("../../../island-agent/cli/engines-commands.ts");
  const location = { dataDirectory, env: process.env };
  const lines: string[] = [];
  for (const { url, isLent, engine } of await findEngines(location)) {
    if (isLent || engine === null || engine.models.length === 0) continue;
    const found = `${describeInspected(engine)} runs here, at ${url}.`;
    if (canAsk() && options.json !== true && (await askOffer(`${found} Lend it?`))) {
      // The Island has joined, whether or not the engine can be lent.
      await addEngine(location, url, { ask: null }).then(
        () => lines.push(`Lends ${engine.name} at ${url}`),
        (error: unknown) => lines.push(error instanceof Error ? error.message : String(error)),
      );
    } else {
      lines.push(`${found} To lend it: ${islandLine(`engines add ${url}`, options)}`);
    }
  }
  return lines;
}

/**
 * Puts together a pairing code that was typed with a space and without quotes. The second half of such a code is among
 * the addresses.
 */
export function takeSplitCode(
  given: readonly string[],
  code: string | undefined,
): { readonly addresses: readonly string[]; readonly code: string | undefined } {
  const halfPattern = /^[0-9A-Za-z]{4}$/;
  const rest = code !== undefined && halfPattern.test(code) ? given.find((each) => halfPattern.test(each)) : undefined;
  return rest === undefined
    ? { addresses: given, code }
    : { addresses: given.filter((each) => each !== rest), code: `${code}${rest}` };
}

/**
 * Reads the token or code from the flags, standard input, the environment, an earlier join or a prompt. Flags are not
 * the only source, because other users of the machine can see them.
 * @param stored the token of an earlier join, if it may be used again.
 * @throws {CliError}
 */
async function readCredential(
  { token: flag, code }: { token?: string; code: string | undefined },
  stored: string | null,
): Promise<JoinCredential> {
  if (code !== undefined) {
    if (flag !== undefined) throw new UsageError("--code and --token cannot be combined. Give one of them");
    return { code };
  }
  if (flag === "-") return { token: (await readSecret("Island token: ")).trim() };
  const token = flag ?? process.env["ISLAND_COORDINATOR_TOKEN"];
  if (token !== undefined) return { token };
  if (stored !== null) return { token: stored };
  if (!canAsk()) {
    throw new UsageError(
      "No pairing code or Island token was given. Give --code, set ISLAND_COORDINATOR_TOKEN, or pipe a token to --token -",
    );
  }
  const typed = (await askSecret("Pairing code or Island token (not shown): ")).trim();
  return typed.startsWith("it_") ? { token: typed } : { code: typed };
}
