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

/** Counts the times that events may have been missed: lists are read again. */
export const liveResets = signal(0);

/** What the coordinator tells as it happens. */
export interface LiveEvents {
  readonly job: JobSummary;
  readonly island: Island;
  readonly islandRemoved: { readonly id: string };
  readonly balance: { readonly balance: number };
  /** Also its keys, sessions or Island tokens. */
  readonly account: Account;
  readonly overview: NetworkOverview;
  /** The account is no operator's any more. */
  readonly overviewDenied: null;
}
type Listener<T> = (event: T) => void;

/** A page need not wait longer for the stream before it reads its lists. */
const MAX_WAIT_MS = 500;
/** Between two pages that show the network there is a moment without one. */
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
/** Pages on the screen that show the network. */
let networkPages = 0;
let isDenied = false;
/** Has the stream begin again when what it should tell has changed. */
let followAgain: (() => void) | null = null;

/** Calls `listener` for each event while the component is shown. */
export function useLive<Name extends keyof LiveEvents>(name: Name, listener: Listener<LiveEvents[Name]>): void {
  useEffect(() => onLive(name, listener));
}

/** Like {@link useLive}, of the overview: the coordinators gather it only while somebody looks. */
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

/** Calls `listener` for each event until the function that it returns is called. */
export function onLive<Name extends keyof LiveEvents>(name: Name, listener: Listener<LiveEvents[Name]>): () => void {
  const set = listeners[name] as Set<Listener<LiveEvents[Name]>>;
  set.add(listener);
  return () => void set.delete(listener);
}

/** Follows the account's events, the one stream that all pages share. Resolves when lists that are read now miss nothing, or soon. */
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
  // Ends when the session does; the request that is refused then tells it.
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

const wishedScope = (): "network" | undefined =>
  networkPages > 0 && !isDenied && !document.hidden ? "network" : undefined;

/** `onReset`: events may have been missed, also where a stream begins. */
async function follow(stop: AbortSignal, onReset: () => void): Promise<void> {
  while (!stop.aborted) {
    const turn = new AbortController();
    const scope = wishedScope();
    followAgain = () => {
      setTimeout(() => wishedScope() !== scope && turn.abort(), SETTLE_MS);
    };
    try {
      for await (const event of api().events({ signal: AbortSignal.any([stop, turn.signal]), scope })) {
        if (event.type === "reset") onReset();
        else tell(event);
      }
    } catch (error) {
      if (turn.signal.aborted) continue;
      if (scope === undefined || !(error instanceof PermissionDeniedError)) throw error;
      isDenied = true;
      announce("overviewDenied", null);
    }
  }
}

function tell(event: Exclude<ToldEvent, { type: "reset" }>): void {
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
