import { AuthenticationError, type Account, type Credentials, type StartedSession } from "@atoll/client";
import { computed, signal } from "@preact/signals";
import { FieldFailure } from "../components/field-failure.ts";
import { api, whenUnauthenticated } from "./api.ts";
import { onLive, startLive, stopLive } from "./live.ts";
import { onOtherTabs, tellOtherTabs } from "./other-tabs.ts";
import { navigate } from "./router.tsx";

/**
 * unknown: not asked yet. expired: the session ended while someone works; what was typed stays, and a dialog asks for the password.
 */
export type SessionState = "unknown" | "unreachable" | "signed-out" | "signed-in" | "expired";

export const session = signal<SessionState>("unknown");
export const account = signal<Account | null>(null);
/** Why it is not known whether there is a session: no answer, or a refusal such as that of the limit of requests. */
export const sessionFailure = signal<unknown>(null);
/** Counts sign-ins: what was refused meanwhile is read again. */
export const signIns = signal(0);
export const isOperator = computed(() => account.value?.role === "operator");

whenUnauthenticated(() => {
  if (session.value === "signed-in") session.value = "expired";
});

onLive("balance", ({ balance }) => {
  if (account.value !== null) account.value = { ...account.value, credits: balance };
});

onLive("account", ({ id, email, credits, role, created_at }) => {
  account.value = { id, email, credits, role, created_at };
});

onLive("overviewDenied", () => {
  refreshAccount().catch(() => undefined);
});

// All tabs share the cookie: what one shows must be of the account that its requests are of.
onOtherTabs((accountId) => {
  if (session.value === "unknown" || accountId === (account.value?.id ?? null)) return;
  if (accountId === null) forgetSession();
  else location.reload();
});

/** Finds out whether the browser has a session. */
export async function findSession(): Promise<void> {
  try {
    account.value = await api().account.get();
    await startLive();
    session.value = "signed-in";
  } catch (error) {
    sessionFailure.value = error;
    session.value = error instanceof AuthenticationError ? "signed-out" : "unreachable";
  }
}

/** @throws {FieldFailure} when they are wrong. */
export async function signIn(credentials: Credentials): Promise<void> {
  let begun: StartedSession;
  try {
    begun = await api().auth.signIn(credentials);
  } catch (error) {
    if (error instanceof AuthenticationError) throw new FieldFailure("password", error.message);
    throw error;
  }
  await begin(begun);
}

/** False: the operator wants proof of the address, and a mail is on its way. */
export async function register(credentials: Credentials): Promise<boolean> {
  const signedIn = await api().auth.register(credentials);
  if (signedIn === null) return false;
  await begin(signedIn);
  return true;
}

/** Opens the account whose address the token of a mail proves. */
export async function verify(token: string, password: string): Promise<void> {
  await begin(await api().auth.verify({ token, password }));
}

export async function signOut(): Promise<void> {
  // A session that ended already needs no end.
  await api()
    .auth.signOut()
    .catch((error: unknown) => {
      if (!(error instanceof AuthenticationError)) throw error;
    });
  forgetSession();
  tellOtherTabs(null);
}

/** Notes that there is no session any more. */
export function endedSession(): void {
  stopLive();
  account.value = null;
  session.value = "signed-out";
}

/** The same, and shows where to sign in. */
export function forgetSession(): void {
  endedSession();
  // Who signs in next begins at the beginning.
  navigate("/sign-in", { replace: true });
}

/** Reads the account again: its balance and address change. */
export async function refreshAccount(): Promise<void> {
  account.value = await api().account.get();
}

async function begin(signedIn: StartedSession): Promise<void> {
  const previous = account.value?.id;
  account.value = signedIn.account;
  tellOtherTabs(signedIn.account.id);
  await Promise.all([refreshAccount(), startLive()]);
  session.value = "signed-in";
  // Another account must not see what the last one did.
  if (previous !== undefined && previous !== signedIn.account.id) location.reload();
  signIns.value += 1;
}
