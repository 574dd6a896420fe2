import { describeUnknown, unknownVariables } from "../../shared/cli/unknown-variables.ts";
import { describeConfig } from "./resolve-config.ts";

/** Variables with our prefix that commands, clients and the agent read. */
const OTHERS = [
  "ATOLL_CONFIG",
  "ATOLL_EMAIL",
  "ATOLL_PASSWORD",
  "ATOLL_API_KEY",
  "ATOLL_BASE_URL",
  "ATOLL_ISLAND_DATA",
];

/** A line about ATOLL_* variables that are no settings; null when there are none. */
export function describeUnknownEnv(env: Readonly<Record<string, string | undefined>>): string | null {
  const known = describeConfig().map(({ env: variable }) => variable);
  return describeUnknown(unknownVariables(env, "ATOLL_", [...known, ...OTHERS]));
}
