import { AtollError } from "@atoll/client";
import { useRef, useState } from "preact/hooks";
import { isSecondClick } from "./action.tsx";
import { FieldFailure } from "./field-failure.ts";
import { messageOf } from "./error-message.ts";

/** Returns the value of the field with this name; empty if there is no such field. */
export type FormValues = (name: string) => string;

export interface Form {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly submit: (event: Event) => void;
  /**
   * Returns the error of the field at `path` or below it. Calling it claims the error, so that {@link FormError} does
   * not repeat it.
   */
  errorOf(path: string): string | undefined;
  /** Errors that no field shows, or null. */
  readonly rest: string | null;
  readonly clear: () => void;
}

/**
 * Handles a form. `send` gets the values; an error that it throws is shown at its field, and the values stay. A double
 * click sends once.
 */
export function useForm(send: (values: FormValues) => Promise<void>): Form {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const sending = useRef(false);
  const claimed = new Set<string>();
  const wrong = wrongFields(error);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (sending.current || isSecondClick()) return;
    const form = event.currentTarget as HTMLFormElement;
    sending.current = true;
    setBusy(true);
    setError(null);
    const data = new FormData(form);
    send((name) => {
      const value = data.get(name);
      return typeof value === "string" ? value : "";
    })
      .catch((failure: unknown) => {
        setError(failure);
        requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      })
      .finally(() => {
        sending.current = false;
        setBusy(false);
      });
  };
  return {
    isBusy,
    error,
    submit,
    errorOf(path) {
      const under = [...wrong.keys()].filter((each) => each === path || each.startsWith(`${path}.`));
      for (const each of under) claimed.add(each);
      const [first] = under;
      return first === undefined ? undefined : wrong.get(first);
    },
    get rest() {
      if (error === null) return null;
      const unclaimed = [...wrong].filter(([path]) => !claimed.has(path));
      if (wrong.size > 0 && unclaimed.length === 0) return null;
      if (unclaimed.length > 0)
        return unclaimed.map(([path, text]) => (path === "" ? text : `${path}: ${text}`)).join("; ");
      return messageOf(error);
    },
    clear: () => setError(null),
  };
}

function wrongFields(error: unknown): Map<string, string> {
  if (error instanceof FieldFailure) return new Map([[error.path, error.message]]);
  if (!(error instanceof AtollError)) return new Map();
  return new Map(error.details.map(({ path, message }) => [path, message]));
}

/** Shows the errors that no field claimed. Must be rendered after the fields. */
export function FormError({ form }: { readonly form: Form }) {
  const { rest } = form;
  return (
    <div role="alert" class="form-alert">
      {rest !== null && <p class="form-error">{rest}</p>}
    </div>
  );
}
