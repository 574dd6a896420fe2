import { useRef, useState } from "preact/hooks";
import { messageOf } from "./error-message.ts";

/** State of a button's action outside a form. */
export interface Action<T = void> {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly run: (subject: T) => void;
}

/** Number of the current click in a series; 2 or more in a double click. */
let clicksInARow = 0;
addEventListener(
  "click",
  ({ detail }) => {
    clicksInARow = detail;
    setTimeout(() => (clicksInARow = 0));
  },
  { capture: true },
);

/** Returns whether the current click is the second of a double click, which must not repeat the action. */
export function isSecondClick(): boolean {
  return clicksInARow > 1;
}

/** Runs an action at most once at a time, and once for a double click. Its error is kept so that it can be shown. */
export function useAction<T = void>(act: (subject: T) => Promise<unknown>): Action<T> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  const run = (subject: T): void => {
    if (running.current || isSecondClick()) return;
    running.current = true;
    setBusy(true);
    setError(null);
    act(subject)
      .catch(setError)
      .finally(() => {
        running.current = false;
        setBusy(false);
      });
  };
  return { isBusy, error, run };
}

export function ActionError({ action: { error } }: { readonly action: Pick<Action, "error"> }) {
  return (
    <div role="alert" class="form-alert">
      {error !== null && <p class="form-error">{messageOf(error)}</p>}
    </div>
  );
}
