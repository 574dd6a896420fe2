import type { Clock } from "../../shared/clock.ts";
import { readConfigFile } from "../config/config-file.ts";
import { resolveAgentConfig } from "../config/resolve-agent-config.ts";
import { describeExamination } from "../doctor/describe-examination.ts";
import { examine, type ExamineOptions } from "../doctor/examine.ts";
import { keepBenchmark } from "../doctor/benchmark.ts";
import { isFit } from "../doctor/examination.ts";

/** Runs `island doctor`. `isFit` is true if at least one runtime is usable on this host. */
export async function examineHost(options: {
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** GGUF file for the speed measurement. The shipped model is small; its speed says little about larger ones. */
  readonly modelPath: string;
  readonly asJson: boolean;
  readonly onStep: ExamineOptions["onStep"];
}): Promise<{ text: string; isFit: boolean }> {
  const { dataDirectory, env, clock, modelPath, asJson, onStep } = options;
  const config = resolveAgentConfig({ flags: {}, env, file: await readConfigFile(dataDirectory) });
  const log = { info: noLog, warn: noLog, error: noLog };
  const found = await examine({ dataDirectory, config, env, clock, log, modelPath, onStep });
  await keepBenchmark(dataDirectory, modelPath, found.tokens);
  return { text: asJson ? JSON.stringify(found) : describeExamination(found), isFit: isFit(found) };
}

function noLog(): void {}
