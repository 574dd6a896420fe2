import { join } from "node:path";
import { testAgent, type AgentRequest } from "../support/agent.cases.ts";
import type { CliOptions } from "../support/cli.ts";

const CODEX = join(import.meta.dirname, "node_modules/@openai/codex/bin/codex.js");

function ask({ url, key, model, prompt }: AgentRequest, ...args: string[]): CliOptions {
  const config = [
    `model = "${model}"`,
    'model_provider = "atoll"',
    "check_for_update_on_startup = false",
    "[model_providers.atoll]",
    'name = "Atoll"',
    `base_url = "${url}/v1"`,
    'env_key = "ATOLL_API_KEY"',
    'wire_api = "responses"',
    "[analytics]",
    "enabled = false",
  ];
  return {
    command: [process.execPath, CODEX, "exec", "--skip-git-repo-check", "-s", "danger-full-access", ...args, prompt],
    env: { ATOLL_API_KEY: key },
    files: { ".codex/config.toml": config.join("\n") },
  };
}

testAgent({
  title: "Codex · responses",
  start: ask,
  // The tool is `web_search`.
  ignored: "tools[8], reasoning.summary, prompt_cache_key, client_metadata, include[0]",
  readNote: { name: "exec_command", arguments: { cmd: "cat note.txt" } },
  wrongKey: /401/,
  unknownModel: /no-such-model/,
  tooLong: /context/i,
  // The client retries a 401 five times within 7 s.
  attempts: { 401: 6 },
  structured: (request, schema) => {
    const options = ask(request, "--output-schema", "schema.json");
    return { ...options, files: { ...options.files, "work/schema.json": JSON.stringify(schema) } };
  },
});
