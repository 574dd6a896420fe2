import { BASE_URL } from "./base.ts";

/** Who is signed in changed in one tab: all tabs share the cookie. Null: nobody. */
type Change = { readonly accountId: string | null };

// Several consoles may be at one origin, below different paths. Old browsers have none.
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(`atoll.session ${BASE_URL.pathname}`) : null;

export function tellOtherTabs(accountId: string | null): void {
  channel?.postMessage({ accountId } satisfies Change);
}

/** `listener` hears what other tabs tell. */
export function onOtherTabs(listener: (accountId: string | null) => void): void {
  channel?.addEventListener("message", ({ data }: MessageEvent<Change>) => listener(data.accountId));
}
