import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const PI = join(import.meta.dirname, "node_modules/@mariozechner/pi-coding-agent/dist/cli.js");

const start =
  (api: string, path: string) =>
  ({ url, key, model, prompt }: AgentRequest): CliOptions => {
    const models = {
      providers: { atoll: { baseUrl: `${url}${path}`, api, apiKey: "ATOLL_API_KEY", models: [{ id: model }] } },
    };
    return {
      command: [process.execPath, PI, "--offline", "--provider", "atoll", "--model", model, "-p", prompt],
      env: { ATOLL_API_KEY: key, PI_TELEMETRY: "0" },
      files: { ".pi/agent/models.json": JSON.stringify(models) },
    };
  };

for (const [name, api, path] of [
  ["chat", "openai-completions", "/v1"],
  ["responses", "openai-responses", "/v1"],
  ["messages", "anthropic-messages", ""],
] as const) {
  testAgent({
    title: `pi · ${name}`,
    start: start(api, path),
    readNote: { name: "bash", arguments: { command: "cat note.txt" } },
    wrongKey: /401|key/i,
    unknownModel: /no-such-model/,
    tooLong: /context|too long/i,
  });
}
