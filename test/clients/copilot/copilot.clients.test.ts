import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const COPILOT = join(import.meta.dirname, `node_modules/@github/copilot-${process.platform}-${process.arch}/copilot`);

const start =
  (path: string, env: Record<string, string>) =>
  ({ url, key, model, prompt }: AgentRequest): CliOptions => ({
    command: [COPILOT, "-p", prompt, "--allow-all-tools", "--silent", "--disable-client-telemetry", "--no-auto-update"],
    env: {
      COPILOT_PROVIDER_BASE_URL: `${url}${path}`,
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: model,
      COPILOT_OFFLINE: "true",
      ...env,
    },
  });

for (const [api, path, env, ignored] of [
  ["chat", "/v1", {}],
  ["responses", "/v1", { COPILOT_PROVIDER_WIRE_API: "responses" }, "reasoning.summary, prompt_cache_key, include[0]"],
  ["messages", "", { COPILOT_PROVIDER_TYPE: "anthropic" }],
] as const) {
  testAgent({
    title: `Copilot · ${api}`,
    start: start(path, env),
    ...(ignored !== undefined && { ignored }),
    readNote: { name: "bash", arguments: { command: "cat note.txt", description: "Print the note" } },
    wrongKey: /401|key/i,
    unknownModel: /no-such-model/,
    tooLong: /context|too long/i,
  });
}
