import { useRef, useState } from "preact/hooks";
import { messageOf } from "./error-message.ts";

/** What a button does, beside a form. */
export interface Action<T = void> {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly run: (subject: T) => void;
}

/** 2 and more: the click under way belongs to a double click. */
let clicksInARow = 0;
addEventListener(
  "click",
  ({ detail }) => {
    clicksInARow = detail;
    setTimeout(() => (clicksInARow = 0));
  },
  { capture: true },
);

/** What is to happen once for a double click, however fast the coordinator answers the first. */
export function isSecondClick(): boolean {
  return clicksInARow > 1;
}

/** An action that does not run twice at the same time, nor for a double click, and whose failure is shown. */
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
