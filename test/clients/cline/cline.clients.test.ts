import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const CLINE = join(import.meta.dirname, "node_modules/@cline/cli-linux-x64/bin/cline");
const PROVIDER = "openai-compatible";

/** This is the file that `cline auth -p openai -k <key> -m <model> -b <url>` writes. */
function start({ url, key, model, prompt }: AgentRequest): CliOptions {
  const settings = { provider: PROVIDER, apiKey: key, model, baseUrl: `${url}/v1` };
  const entry = { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" };
  const providers = { version: 1, lastUsedProvider: PROVIDER, modes: {}, providers: { [PROVIDER]: entry } };
  return {
    command: [CLINE, prompt],
    // Without these variables, Cline starts a daemon that outlives it.
    env: { CLINE_SESSION_BACKEND_MODE: "local", CLINE_NO_AUTO_UPDATE: "1" },
    files: {
      ".cline/data/settings/providers.json": JSON.stringify(providers),
      ".cline/data/settings/global-settings.json": JSON.stringify({ telemetryOptOut: true, autoUpdateEnabled: false }),
    },
  };
}

testAgent({
  title: "Cline · chat",
  start,
  readNote: { name: "run_commands", arguments: { commands: ["cat note.txt"] } },
  wrongKey: /401|key/i,
  unknownModel: /no-such-model/,
  tooLong: /context/i,
});
