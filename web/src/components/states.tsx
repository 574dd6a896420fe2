import { AtollError } from "@atoll/client";
import type { ComponentChildren } from "preact";
import type { Resource } from "../app/resource.ts";
import { messageOf, requestIdOf } from "./error-message.ts";

export function LoadingState({ what }: { readonly what: string }) {
  return (
    <div class="state loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </div>
  );
}

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}

export function ErrorState({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  const requestId = requestIdOf(error);
  const isGone = error instanceof AtollError && error.status === 404;
  return (
    <div class="state failed" role="alert">
      <p class="state-title">{isGone ? "Not found" : "Could not load this content"}</p>
      <p>{messageOf(error)}</p>
      {requestId !== null && (
        <p class="muted">
          For the operator: request <code>{requestId}</code>
        </p>
      )}
      {retry !== undefined && !isGone && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shows a resource, or that it is loading or has failed. An error of a later read is shown above the previous value. */
export function Loaded<T>({
  of: resource,
  what,
  children,
}: {
  readonly of: Resource<T>;
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error, isLoading } = resource;
  const isGone = error instanceof AtollError && error.status === 404;
  if (value === undefined || isGone) {
    if (error !== undefined && !(isLoading && value === undefined))
      return <ErrorState error={error} retry={resource.reload} />;
    return <LoadingState what={what} />;
  }
  return (
    <>
      {error !== undefined && (
        <div class="banner warning" role="alert">
          {messageOf(error)}{" "}
          <button type="button" class="link-button" onClick={resource.reload}>
            Try again
          </button>
        </div>
      )}
      {children(value)}
    </>
  );
}
