import { setting } from "../../shared/settings.ts";

/** How long the phases of an attempt may take, for Cargos that do not say it themselves. */
export const PHASE_SETTINGS = {
  acceptLimitMs: phase(
    "accept_limit_s",
    5,
    "How long an Island may take to accept a job; then the attempt is over and another follows",
  ),
  startLimitMs: phase(
    "start_limit_s",
    30,
    "How long an Island may take to begin a job while neither a download nor a load makes progress",
  ),
  firstOutputLimitMs: phase(
    "first_output_limit_s",
    60,
    "How long a chat may run without output and without progress in reading its prompt",
  ),
  silenceLimitMs: phase("silence_limit_s", 60, "How long a chat that has given output may then be silent"),
};

function phase(key: string, fallback: number, meaning: string) {
  return setting.number(key, { min: 0.01, max: 604_800, factor: 1_000, fallback, meaning });
}
