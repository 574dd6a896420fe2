import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const PI = join(import.meta.dirname, "node_modules/@mariozechner/pi-coding-agent/dist/cli.js");

const start =
  (api: string, path: string, ...args: string[]) =>
  ({ url, key, model, prompt }: AgentRequest): CliOptions => {
    const models = {
      providers: { atoll: { baseUrl: `${url}${path}`, api, apiKey: "ATOLL_API_KEY", models: [{ id: model }] } },
    };
    return {
      command: [process.execPath, PI, "--offline", "--provider", "atoll", "--model", model, ...args, "-p", prompt],
      env: { ATOLL_API_KEY: key, PI_TELEMETRY: "0" },
      files: { ".pi/agent/models.json": JSON.stringify(models) },
    };
  };

for (const [name, api, path, ignored] of [
  ["chat", "openai-completions", "/v1", "store"],
  ["responses", "openai-responses", "/v1", "prompt_cache_key"],
  [
    "messages",
    "anthropic-messages",
    "",
    "messages[0].content[0].cache_control, system[0].cache_control, tools[0].eager_input_streaming, " +
      "tools[1].eager_input_streaming, tools[2].eager_input_streaming, tools[3].eager_input_streaming, " +
      "tools[3].cache_control",
  ],
] as const) {
  testAgent({
    title: `pi · ${name}`,
    start: start(api, path),
    ignored,
    readNote: { name: "bash", arguments: { command: "cat note.txt" } },
    wrongKey: /401|key/i,
    unknownModel: /no-such-model/,
    // Pi's text mode exits before the attempt that follows a compaction, and prints nothing.
    overContext: start(api, path, "--mode", "json"),
    tooLong: /"type":"compaction_start","reason":"overflow"/,
    isSmall: true,
  });
}
