import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const QWEN = join(import.meta.dirname, "node_modules/@qwen-code/qwen-code/cli-entry.js");
const SETTINGS = { privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } };

function ask({ url, key, model, prompt }: AgentRequest, ...args: string[]): CliOptions {
  return {
    command: [process.execPath, QWEN, "--auth-type", "openai", "--yolo", ...args, prompt],
    env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
    files: { ".qwen/settings.json": JSON.stringify(SETTINGS) },
  };
}

testAgent({
  title: "Qwen Code · chat",
  start: ask,
  readNote: { name: "run_shell_command", arguments: { command: "cat note.txt", is_background: false } },
  wrongKey: /401/,
  unknownModel: /no-such-model/,
  tooLong: /context/i,
  structured: (request, schema) => ask(request, "--json-schema", JSON.stringify(schema)),
});
