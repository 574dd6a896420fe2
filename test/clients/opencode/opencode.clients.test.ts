import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const OPENCODE = join(import.meta.dirname, "node_modules/opencode-linux-x64/bin/opencode");

const start =
  (npm: string) =>
  ({ url, key, model, prompt }: AgentRequest): CliOptions => {
    const provider = {
      npm,
      name: "Atoll",
      options: { baseURL: `${url}/v1`, apiKey: "{env:ATOLL_API_KEY}" },
      models: { [model]: {} },
    };
    const config = { provider: { atoll: provider }, autoupdate: false, share: "disabled" };
    return {
      command: [OPENCODE, "run", "--auto", "--model", `atoll/${model}`, prompt],
      // Prevents the client from installing its plugin package with npm.
      env: {
        ATOLL_API_KEY: key,
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        npm_config_offline: "true",
      },
      files: { ".config/opencode/opencode.json": JSON.stringify(config) },
    };
  };

for (const [api, npm, ignored] of [
  ["chat", "@ai-sdk/openai-compatible"],
  ["responses", "@ai-sdk/openai", "prompt_cache_key"],
  ["messages", "@ai-sdk/anthropic", "system[0].cache_control, messages[0].content[0].cache_control"],
] as const) {
  testAgent({
    title: `opencode · ${api}`,
    start: start(npm),
    ...(ignored !== undefined && { ignored }),
    readNote: { name: "bash", arguments: { command: "cat note.txt", description: "Print the note" } },
    wrongKey: /Unauthorized|invalid|key/i,
    unknownModel: /no-such-model/,
    tooLong: /context/i,
  });
}
