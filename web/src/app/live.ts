import type { Island, JobSummary } from "@atoll/client";
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
}
type Listener<T> = (event: T) => void;

/** A page need not wait longer for the stream before it reads its lists. */
const MAX_READY_MS = 500;

const listeners: { [Name in keyof LiveEvents]: Set<Listener<LiveEvents[Name]>> } = {
  job: new Set(),
  island: new Set(),
  islandRemoved: new Set(),
  balance: new Set(),
};
let following: AbortController | null = null;

/** Calls `listener` for each event while the component is shown. */
export function useLive<Name extends keyof LiveEvents>(name: Name, listener: Listener<LiveEvents[Name]>): void {
  useEffect(() => onLive(name, listener));
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
  const ready = Promise.withResolvers<void>();
  let isLate = false;
  setTimeout(() => {
    isLate = true;
    ready.resolve();
  }, MAX_READY_MS);
  // Ends when the session does; the request that is refused then tells it.
  follow(controller.signal, () => {
    if (isLate) liveResets.value += 1;
    ready.resolve();
  }).catch(() => undefined);
  await ready.promise;
}

export function stopLive(): void {
  following?.abort();
  following = null;
}

async function follow(stop: AbortSignal, onReady: () => void): Promise<void> {
  for await (const event of api().events({ signal: stop })) {
    switch (event.type) {
      case "ready":
        onReady();
        break;
      case "reset":
        liveResets.value += 1;
        break;
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
      default:
        event satisfies never;
    }
  }
}

function announce<Name extends keyof LiveEvents>(name: Name, event: LiveEvents[Name]): void {
  for (const listener of [...listeners[name]]) listener(event);
}
