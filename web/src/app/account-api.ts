import { api } from "./api.ts";

/** A sum of what jobs cost or earned. */
export interface UsageLine {
  readonly kind: "spent" | "earned";
  /** "2026-01-31", in UTC; null where days are not kept apart. */
  readonly day: string | null;
  readonly workload_slug: string | null;
  readonly api_key_id: string | null;
  readonly jobs: number;
  readonly credits: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export interface AccountSession {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
  /** The one that asks. */
  readonly current: boolean;
}

interface UsageFilter {
  readonly from?: string;
  readonly to?: string;
  readonly by: readonly ("day" | "workload" | "api_key")[];
}

/** Limits of a new key; absent or null: none. */
export interface KeyLimits {
  readonly expires_at?: string | null;
  readonly cargos?: readonly string[] | null;
  readonly credits_per_month?: number | null;
}

/** Resources that a client may lack: then what they show is left out. */
interface Later {
  readonly account: {
    usage?(filter: UsageFilter, options: { readonly signal: AbortSignal }): AsyncIterable<UsageLine>;
  };
  readonly sessions?: {
    list(options: { readonly signal: AbortSignal }): Promise<readonly AccountSession[]>;
    end(id: string): Promise<void>;
  };
}

/** A client that knows sessions knows the limits of keys, too. */
export const hasKeyLimits = (): boolean => hasSessions();

const later = (): Later => api() as unknown as Later;

export const hasUsage = (): boolean => later().account.usage !== undefined;
export const hasSessions = (): boolean => later().sessions !== undefined;

/** All lines, at most a year of days or the Cargos of an account. */
export async function readUsage(filter: UsageFilter, signal: AbortSignal): Promise<readonly UsageLine[]> {
  const lines: UsageLine[] = [];
  for await (const line of later().account.usage?.(filter, { signal }) ?? []) lines.push(line);
  return lines;
}

export async function readSessions(signal: AbortSignal): Promise<readonly AccountSession[]> {
  return (await later().sessions?.list({ signal })) ?? [];
}

export async function endSession(id: string): Promise<void> {
  await later().sessions?.end(id);
}
