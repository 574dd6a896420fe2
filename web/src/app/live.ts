import {
  PermissionDeniedError,
  type Account,
  type Island,
  type JobSummary,
  type NetworkOverview,
  type ToldEvent,
} from "@atoll/client";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "./api.ts";
import { connectionLost } from "./connection.ts";

/** Counts how often events may have been missed. Lists are read again each time. */
export const liveResets = signal(0);

/** Events of the account's live stream, by name. */
export interface LiveEvents {
  readonly job: JobSummary;
  readonly island: Island;
  readonly islandRemoved: { readonly id: string };
  readonly balance: { readonly balance: number };
  /** Sent when the account, or one of its keys, sessions or Island tokens, changes. */
  readonly account: Account;
  readonly overview: NetworkOverview;
  /** Sent when the account has lost the operator role. */
  readonly overviewDenied: null;
}
type Listener<T> = (event: T) => void;

/** Maximum time that a page waits for the stream before it reads its lists. */
const MAX_WAIT_MS = 500;
/**
 * Delay before the scope is checked again, because no page shows the network for a moment when one such page replaces
 * another.
 */
const SETTLE_MS = 100;

const listeners: { [Name in keyof LiveEvents]: Set<Listener<LiveEvents[Name]>> } = {
  job: new Set(),
  island: new Set(),
  islandRemoved: new Set(),
  balance: new Set(),
  account: new Set(),
  overview: new Set(),
  overviewDenied: new Set(),
};
let following: AbortController | null = null;
/** Number of shown pages that need events of the network. */
let networkPages = 0;
let isDenied = false;
/** Restarts the stream when its scope has changed. */
let followAgain: (() => void) | null = null;

/** Calls `listener` for each event while the component is shown. */
export function useLive<Name extends keyof LiveEvents>(name: Name, listener: Listener<LiveEvents[Name]>): void {
  useEffect(() => onLive(name, listener));
}

/**
 * Calls `listener` for each overview while the component is shown. Coordinators gather overviews only while a page
 * requests them.
 */
export function useLiveOverview(listener: Listener<NetworkOverview>): void {
  useLive("overview", listener);
  useEffect(() => {
    networkPages += 1;
    followAgain?.();
    return () => {
      networkPages -= 1;
      followAgain?.();
    };
  }, []);
}

/** Calls `listener` for each event. Returns a function that ends the subscription. */
export function onLive<Name extends keyof LiveEvents>(name: Name, listener: Listener<LiveEvents[Name]>): () => void {
  const set = listeners[name] as Set<Listener<LiveEvents[Name]>>;
  set.add(listener);
  return () => void set.delete(listener);
}

/**
 * Follows the account's events, in one stream that all pages share. Resolves when the stream has started, so that lists
 * read from then on miss no change, or after {@link MAX_WAIT_MS}.
 */
export async function startLive(): Promise<void> {
  stopLive();
  const controller = new AbortController();
  following = controller;
  isDenied = false;
  const begun = Promise.withResolvers<void>();
  let isWaiting = true;
  const endWait = (): void => {
    isWaiting = false;
    begun.resolve();
  };
  setTimeout(endWait, MAX_WAIT_MS);
  // The stream fails when the session ends, which `whenUnauthenticated` reports.
  follow(controller.signal, () => {
    if (!isWaiting) liveResets.value += 1;
    endWait();
  }).catch(() => undefined);
  await begun.promise;
}

export function stopLive(): void {
  following?.abort();
  following = null;
}

document.addEventListener("visibilitychange", () => followAgain?.());

const requiredScope = (): "network" | undefined =>
  networkPages > 0 && !isDenied && !document.hidden ? "network" : undefined;

/** Reads the stream until `stop`. `onReset` is called when events may have been missed, and when a stream starts. */
async function follow(stop: AbortSignal, onReset: () => void): Promise<void> {
  while (!stop.aborted) {
    const turn = new AbortController();
    const scope = requiredScope();
    followAgain = () => {
      setTimeout(() => requiredScope() !== scope && turn.abort(), SETTLE_MS);
    };
    try {
      for await (const event of api().events({ signal: AbortSignal.any([stop, turn.signal]), scope })) {
        if (event.type === "reset") onReset();
        else notify(event);
      }
    } catch (error) {
      if (turn.signal.aborted) continue;
      if (scope === undefined || !(error instanceof PermissionDeniedError)) throw error;
      isDenied = true;
      announce("overviewDenied", null);
    }
  }
}

function notify(event: Exclude<ToldEvent, { type: "reset" }>): void {
  switch (event.type) {
    case "offline":
      connectionLost();
      break;
    case "job":
      announce("job", event);
      break;
    case "island":
      announce("island", event);
      break;
    case "island_removed":
      announce("islandRemoved", event);
      break;
    case "balance":
      announce("balance", event);
      break;
    case "account":
      announce("account", event);
      break;
    case "overview":
      announce("overview", event);
      break;
    default:
      event satisfies never;
  }
}

function announce<Name extends keyof LiveEvents>(name: Name, event: LiveEvents[Name]): void {
  for (const listener of [...listeners[name]]) listener(event);
}
