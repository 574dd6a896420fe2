import { AuthenticationError, type Account, type Credentials, type StartedSession } from "@atoll/client";
import { computed, signal } from "@preact/signals";
import { FieldFailure } from "../components/field-failure.ts";
import { api, whenUnauthenticated } from "./api.ts";
import { onLive, startLive, stopLive } from "./live.ts";
import { onOtherTabs, notifyOtherTabs } from "./other-tabs.ts";
import { navigate } from "./router.tsx";

/**
 * State of the session. "unknown": not requested yet. "expired": ended while a page is open; the page keeps its fields,
 * and a dialog asks for the password.
 */
export type SessionState = "unknown" | "unreachable" | "signed-out" | "signed-in" | "expired";

export const session = signal<SessionState>("unknown");
export const account = signal<Account | null>(null);
/** Error of the most recent attempt to find the session: a connection failure, or a rejection such as a rate limit. */
export const sessionFailure = signal<unknown>(null);
/** Counts sign-ins. Pages read their data again after each sign-in, since requests without a session were rejected. */
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

// All tabs share the cookie, so a tab must show the account that its requests are made for.
onOtherTabs((accountId) => {
  if (session.value === "unknown" || accountId === (account.value?.id ?? null)) return;
  if (accountId === null) forgetSession();
  else location.reload();
});

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

/** Signs in. @throws {FieldFailure} if e-mail or password is wrong. */
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

/**
 * Creates an account. Returns false if the operator requires a verified address; a mail with a token has been sent
 * then.
 */
export async function register(credentials: Credentials): Promise<boolean> {
  const signedIn = await api().auth.register(credentials);
  if (signedIn === null) return false;
  await begin(signedIn);
  return true;
}

/** Creates the account whose address is verified by the token of a mail. */
export async function verify(token: string, password: string): Promise<void> {
  await begin(await api().auth.verify({ token, password }));
}

export async function signOut(): Promise<void> {
  // Ignore a session that has already ended.
  await api()
    .auth.signOut()
    .catch((error: unknown) => {
      if (!(error instanceof AuthenticationError)) throw error;
    });
  forgetSession();
  notifyOtherTabs(null);
}

export function endedSession(): void {
  stopLive();
  account.value = null;
  session.value = "signed-out";
}

/** Marks the session as ended and shows the sign-in page. */
export function forgetSession(): void {
  endedSession();
  // The next account to sign in starts at the first page.
  navigate("/sign-in", { replace: true });
}

/** Reads the account again, since its balance and address may have changed. */
export async function refreshAccount(): Promise<void> {
  account.value = await api().account.get();
}

async function begin(signedIn: StartedSession): Promise<void> {
  const previous = account.value?.id;
  account.value = signedIn.account;
  notifyOtherTabs(signedIn.account.id);
  await Promise.all([refreshAccount(), startLive()]);
  session.value = "signed-in";
  // The next account must not see data of the previous one.
  if (previous !== undefined && previous !== signedIn.account.id) location.reload();
  signIns.value += 1;
}
