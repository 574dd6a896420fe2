import type { Island, JobSummary } from "@atoll/client";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Counts the times that events were missed: lists are read again. */
export const liveResets = signal(0);

/** What the coordinator tells as it happens. */
export interface LiveEvents {
  readonly job: JobSummary;
  readonly island: Island;
  readonly balance: { readonly balance: number };
  readonly overview: unknown;
}
type Listener<T> = (event: T) => void;

const listeners: { [Name in keyof LiveEvents]: Set<Listener<LiveEvents[Name]>> } = {
  job: new Set(),
  island: new Set(),
  balance: new Set(),
  overview: new Set(),
};

/** Calls `listener` for each event while the component is shown. */
export function useLive<Name extends keyof LiveEvents>(name: Name, listener: Listener<LiveEvents[Name]>): void {
  useEffect(() => {
    const set = listeners[name] as Set<Listener<LiveEvents[Name]>>;
    set.add(listener);
    return () => void set.delete(listener);
  });
}

/** Tells all who listen. */
export function announce<Name extends keyof LiveEvents>(name: Name, event: LiveEvents[Name]): void {
  for (const listener of [...listeners[name]]) listener(event);
}
