import { BASE_URL } from "./base.ts";

/** Message to the other tabs, which share the cookie: the account that is now signed in, or null after a sign-out. */
type Change = { readonly accountId: string | null };

// The name contains the path, because several consoles may share an origin. Old browsers lack BroadcastChannel.
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(`atoll.session ${BASE_URL.pathname}`) : null;

export function notifyOtherTabs(accountId: string | null): void {
  channel?.postMessage({ accountId } satisfies Change);
}

/** Calls `listener` when another tab signs in or out. */
export function onOtherTabs(listener: (accountId: string | null) => void): void {
  channel?.addEventListener("message", ({ data }: MessageEvent<Change>) => listener(data.accountId));
}
