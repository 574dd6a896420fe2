import type { ResolveHost } from "../../../shared/net/host-lookup.ts";
import { resolveWithDns } from "./address-guard.ts";

export const DEFAULT_HUB_ENDPOINT = "https://huggingface.co";

/** Options of downloads. All defaults are in {@link resolveFetchPolicy}. */
export interface FetchOptions {
  /** Base URL of the coordinator (http or https). If null, models of a coordinator cannot be downloaded. */
  readonly coordinatorUrl?: string | null;
  readonly currentCoordinatorUrl?: () => string;
  readonly hubEndpoint?: string;
  /** Token that is sent only to the origin of `hubEndpoint`. */
  readonly hubToken?: string | null;
  /** Whether model URLs may have loopback, private and link-local addresses. */
  readonly allowPrivateAddresses?: boolean;
  /** Time without a byte after which a transfer is aborted and retried. */
  readonly stallMs?: number;
  /** Maximum number of consecutive attempts without progress. */
  readonly maxAttempts?: number;
  /** Wait before the second attempt. It doubles up to `maxBackoffMs`, less a random part of up to a half. */
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Maximum Retry-After that is respected. */
  readonly maxRetryAfterMs?: number;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random?: () => number;
  readonly resolveHost?: ResolveHost;
}

export interface FetchPolicy extends Required<
  Omit<FetchOptions, "coordinatorUrl" | "currentCoordinatorUrl" | "hubEndpoint">
> {
  /** Base of model URLs, regardless of which coordinator of the network serves them. */
  readonly coordinator: URL | null;
  /** Returns the coordinator that serves models now. */
  readonly currentCoordinator: () => URL | null;
  readonly hub: URL;
}

/** @throws {TypeError} when an address is not an http or https URL. */
export function resolveFetchPolicy(options: FetchOptions): FetchPolicy {
  const { coordinatorUrl = null, hubEndpoint = DEFAULT_HUB_ENDPOINT } = options;
  const coordinator = coordinatorUrl === null ? null : httpUrl("coordinator URL", coordinatorUrl);
  const current = options.currentCoordinatorUrl;
  return Object.freeze({
    coordinator,
    currentCoordinator: () => (current === undefined ? coordinator : httpUrl("coordinator URL", current())),
    hub: httpUrl("hub endpoint", hubEndpoint),
    hubToken: options.hubToken ?? null,
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    stallMs: options.stallMs ?? 30_000,
    maxAttempts: options.maxAttempts ?? 5,
    backoffMs: options.backoffMs ?? 1_000,
    maxBackoffMs: options.maxBackoffMs ?? 60_000,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 300_000,
    random: options.random ?? Math.random,
    resolveHost: options.resolveHost ?? resolveWithDns,
  });
}

/** Returns whether the URL is the coordinator's or the hub's, which may use http and private addresses. */
export function isTrustedOrigin(policy: FetchPolicy, url: URL): boolean {
  const { coordinator, hub } = policy;
  return [coordinator, hub, policy.currentCoordinator()].some((trusted) => url.origin === trusted?.origin);
}

/** Returns a coordinator's URL at its current address; other URLs unchanged. */
export function atCurrentCoordinator(policy: FetchPolicy, url: URL): URL {
  const { coordinator } = policy;
  const current = policy.currentCoordinator();
  if (coordinator === null || current === null || url.origin !== coordinator.origin) return url;
  const [named, wanted] = [coordinator, current].map(({ pathname }) => pathname.replace(/\/+$/, ""));
  if (!url.pathname.startsWith(`${named}/`)) return url;
  return new URL(`${current.origin}${wanted}${url.pathname.slice(named?.length)}${url.search}`);
}

function httpUrl(what: string, text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new TypeError(`${what}: must be an http or https URL, got "${text}"`);
  }
  return url;
}
