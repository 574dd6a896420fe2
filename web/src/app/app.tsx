import { AtollError, ConnectionError } from "@atoll/client";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../components/error-message.ts";
import { ErrorState, LoadingState } from "../components/states.tsx";
import { isDown } from "./connection.ts";
import { NotFoundPage } from "./not-found.tsx";
import { matchRoute, navigate, path, type PageProps, type Route } from "./router.tsx";
import { FRONT, ROUTES } from "./routes.tsx";
import { findSession, isOperator, session, sessionFailure } from "./session.ts";
import { Shell } from "./shell.tsx";
import { SignInAgain } from "./sign-in-again.tsx";

/** Address to return to after signing in. */
let wanted: string | null = null;

export function App() {
  const match = matchRoute(ROUTES, path.value);
  const state = session.value;
  const isEntry = match?.route.area === "entry";
  const isFront = state === "signed-out" && path.value === "/";
  useEffect(() => {
    if (state === "signed-out" && !isEntry && !isFront) {
      wanted = path.value + location.search;
      navigate("/sign-in", { replace: true });
    }
    // A signed-in account may also open the reset link from an e-mail.
    if (state === "signed-in" && isEntry && path.value !== "/reset-password") {
      navigate(wanted ?? "/", { replace: true });
      wanted = null;
    }
  }, [state, isEntry, isFront]);
  const isDownNow = isDown.value;
  useEffect(() => {
    if (session.value === "unreachable" && !isDownNow) void findSession();
  }, [isDownNow]);

  if (state === "unknown") return <LoadingState what="the console" />;
  if (state === "unreachable") return <Unreachable />;
  if (isFront) return <PageOf route={FRONT} params={{}} />;
  if (state === "signed-out" && !isEntry) return null;
  if (isEntry) return <PageOf route={match.route} params={match.params} />;
  const isHidden = match?.route.area === "operator" && !isOperator.value;
  return (
    <Shell title={match === null || isHidden ? "Not found" : match.route.title}>
      {match === null || isHidden ? (
        <NotFoundPage />
      ) : (
        <PageOf key={path.value} route={match.route} params={match.params} />
      )}
      {state === "expired" && <SignInAgain />}
    </Shell>
  );
}

/** Loads the code of a page when the page is first shown. */
function PageOf({ route, params }: { readonly route: Route } & PageProps) {
  const [page, setPage] = useState<{ route: Route; Page: ComponentType<PageProps> } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    document.title = `${route.title} · Atoll`;
    let isShown = true;
    setError(null);
    route.load().then(
      (Page) => isShown && setPage({ route, Page }),
      (failure: unknown) => isShown && setError(failure),
    );
    return () => {
      isShown = false;
    };
  }, [route, attempts]);
  if (error !== null) {
    // After an upgrade the files of the old console are gone. Reloading the page's address loads the new ones.
    return <ErrorState error={error} retry={() => (attempts === 0 ? setAttempts(1) : location.reload())} />;
  }
  if (page === null || page.route !== route) return <LoadingState what="the page" />;
  return <page.Page params={params} />;
}

function Unreachable() {
  const failure = sessionFailure.value;
  const isRefused = failure instanceof AtollError && !(failure instanceof ConnectionError);
  return (
    <main class="entry">
      <div class="entry-card" role="alert">
        <h1>{isRefused ? "Could not load the console" : "The coordinator is not responding"}</h1>
        <p>{isRefused ? messageOf(failure) : "This page keeps trying to reconnect."}</p>
        <button type="button" class="button" onClick={() => void findSession()}>
          Try now
        </button>
      </div>
    </main>
  );
}
