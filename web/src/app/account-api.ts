import type { AccountSession, ChangeApiKey, UsageFilter, UsageLine } from "@atoll/client";
import { api } from "./api.ts";

export type { AccountSession, UsageLine } from "@atoll/client";
/** Limits and trust of a new key. An absent or null member sets none. */
export type KeyLimits = Pick<ChangeApiKey, "expires_at" | "cargos" | "credits_per_month" | "trust">;

/** Reads all usage lines, which are those of at most a year of days, or of an account's Cargos. */
export async function readUsage(filter: UsageFilter, signal: AbortSignal): Promise<readonly UsageLine[]> {
  const lines: UsageLine[] = [];
  for await (const line of api().account.usage(filter, { signal })) lines.push(line);
  return lines;
}

export function readSessions(signal: AbortSignal): Promise<readonly AccountSession[]> {
  return api().sessions.list({ signal });
}

export function endSession(id: string): Promise<void> {
  return api().sessions.end(id);
}
