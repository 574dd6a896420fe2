import type { Island, IslandDetail, JobStatus, Page } from "@atoll/client";
import { api } from "../../app/api.ts";

/** What the console needs of the client's `operator` resource. */
export interface OperatorClient {
  overview(): Promise<Overview>;
  queue(): Promise<{ readonly data: readonly QueueLine[]; readonly is_complete: boolean }>;
  jobs(
    part: ListPart & { readonly status?: string; readonly account?: string; readonly workload?: string },
  ): Promise<Page<KnownJob>>;
  islands(
    part: ListPart & { readonly search?: string; readonly status?: string; readonly account?: string },
  ): Promise<Page<KnownIsland>>;
  island(id: string): Promise<IslandDetail & Owner>;
  suspendIsland(id: string, reason: string): Promise<void>;
  reinstateIsland(id: string): Promise<void>;
  accounts(part: ListPart & { readonly search?: string; readonly suspended?: string }): Promise<Page<KnownAccount>>;
  account(id: string): Promise<KnownAccountDetail>;
  setLimits(id: string, limits: Partial<Record<keyof AccountLimits, number | null>>): Promise<AccountLimits>;
  grant(id: string, credits: number): Promise<void>;
  suspendAccount(id: string, reason: string): Promise<KnownAccountDetail>;
  reinstateAccount(id: string): Promise<KnownAccountDetail>;
  cargos(part: ListPart & { readonly status?: string }): Promise<Page<KnownCargo>>;
  reviewCargo(slug: string): Promise<CargoReview>;
  approveCargo(slug: string, review: CargoReview): Promise<void>;
  setCargoDisabled(slug: string, isDisabled: boolean): Promise<void>;
  audit(part: ListPart): Promise<Page<AuditLine>>;
  settings(): Promise<readonly SettingInForce[]>;
  announcements(): Promise<readonly Announcement[]>;
  announce(level: string, text: string): Promise<void>;
  removeAnnouncement(id: string): Promise<void>;
}

export interface ListPart {
  readonly limit: number;
  readonly offset: number;
}
interface Owner {
  readonly account_id: string;
  readonly account_email: string | null;
}
interface Slots {
  readonly free: number;
  readonly all: number;
}

export interface Overview {
  readonly islands: { readonly online: number; readonly known: number };
  readonly slots: Slots;
  readonly jobs: { readonly running: number; readonly waiting: number; readonly finished_last_minute: number };
  readonly waiting_by_reason: readonly { readonly reason: string; readonly jobs: number }[];
  readonly tokens_per_second: number;
  readonly first_token_ms: { readonly p50: number | null; readonly p99: number | null };
  readonly errors_last_minute: number;
  readonly coordinators: readonly {
    readonly id: string | null;
    readonly address: string;
    readonly version: string;
    readonly answers: boolean;
    readonly islands: number;
    readonly slots: Slots;
    readonly jobs: { readonly running: number; readonly waiting: number };
  }[];
}

export interface QueueLine {
  readonly workload_slug: string;
  readonly only_islands_of: string | null;
  readonly jobs: number;
  readonly reason: string;
  readonly message: string;
  readonly waiting_since: string;
  readonly coordinators: number;
}

export interface KnownJob {
  readonly id: string;
  readonly account_id: string;
  readonly account_email: string | null;
  readonly workload_slug: string;
  readonly status: JobStatus;
  readonly attempts: number;
  readonly island_id: string | null;
  readonly error_code: string | null;
  readonly credits_used: number;
  readonly created_at: string;
  readonly completed_at: string | null;
}

export type KnownIsland = Omit<Island, "uptime" | "jobs" | "tokens" | "earned" | "status"> &
  Owner & { readonly status: Island["status"] | "suspended" };

export interface AccountLimits {
  readonly requests_per_minute: number;
  readonly concurrent_jobs: number;
  readonly concurrent_streams: number;
  readonly share: number;
}

export interface KnownAccount {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly credits: number;
  readonly held: number;
  readonly unfinished_jobs: number;
  readonly islands: number;
  readonly suspended: { readonly reason: string; readonly since: string } | null;
  readonly created_at: string;
}
export type KnownAccountDetail = KnownAccount & { readonly limits: AccountLimits };

export interface KnownCargo {
  readonly slug: string;
  readonly runtime_type: string | null;
  readonly status: string;
  readonly origin: string;
  readonly owner_email: string | null;
  readonly pinned: boolean | null;
}

export interface CargoReview {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly status: string;
  readonly origin: string;
  readonly owner_email: string | null;
  readonly revision: string;
  readonly pin: { readonly kind: "image_digest" | "model_hash" | "model_commit"; readonly value: string | null } | null;
  readonly approval: { readonly revision: string; readonly by: string; readonly at: string } | null;
  readonly signs: {
    readonly runtime_type: string;
    readonly image: string | null;
    readonly image_digest: string | null;
    readonly command: readonly string[] | null;
    readonly network: boolean;
    readonly gpu: boolean;
    readonly model_url: string | null;
    readonly model_hash: string | null;
    readonly model_commit: string | null;
    readonly model_bytes: number | null;
    readonly args: readonly string[] | null;
    readonly required_ram_mb: number;
    readonly required_vram_mb: number;
    readonly price_per_job: number;
  };
  readonly cargo: Readonly<Record<string, unknown>>;
}

export interface AuditLine {
  readonly id: number;
  readonly at: string;
  readonly via: string;
  readonly actor: string;
  readonly actor_email: string | null;
  readonly origin: string;
  readonly action: string;
  readonly target: { readonly kind: string; readonly id: string };
  readonly before: unknown;
  readonly after: unknown;
}

export interface SettingInForce {
  readonly key: string;
  readonly value: string | null;
  readonly source: string;
  readonly default: string;
  readonly environment: string;
  readonly allowed: string;
  readonly meaning: string;
}

export interface Announcement {
  readonly id: string;
  readonly level: string;
  readonly text: string;
  readonly created_at: string;
  readonly until: string | null;
}

/** The one place that knows how the client names what operators do. */
export function operator(): OperatorClient {
  return (api() as unknown as { readonly operator: OperatorClient }).operator;
}
