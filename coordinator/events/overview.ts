import type { Identity } from "../accounts/identity.ts";

/** What an operator sees of the whole network at a glance. */
export interface Overview {
  readonly islands: { readonly online: number; readonly known: number };
  readonly slots: { readonly free: number; readonly all: number };
  readonly jobs: { readonly running: number; readonly waiting: number; readonly finished_last_minute: number };
  readonly waiting_by_reason: readonly { readonly reason: string; readonly jobs: number }[];
  readonly tokens_per_second: number;
  readonly first_token_ms: { readonly p50: number | null; readonly p99: number | null };
  readonly errors_last_minute: number;
  readonly coordinators: readonly unknown[];
}

/** Where operators are known: offers the overview to streams of events that ask for `?scope=network`. */
export interface OverviewPort {
  /** @throws {ServiceError} unless the caller is an operator. */
  assertMayRead(identity: Identity): void;
  overview: () => Promise<Overview>;
}
