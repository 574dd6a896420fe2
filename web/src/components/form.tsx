import { AtollError } from "@atoll/client";
import { useRef, useState } from "preact/hooks";
import { isSecondClick } from "./action.tsx";
import { FieldFailure } from "./field-failure.ts";
import { messageOf } from "./error-message.ts";

/** What is typed in the field of that name; empty without one. */
export type FormValues = (name: string) => string;

export interface Form {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly submit: (event: Event) => void;
  /** What is wrong with the field of that path, or inside of it. Asking claims it: it is not shown above the form again. */
  errorOf(path: string): string | undefined;
  /** What no field shows. */
  readonly rest: string | null;
  readonly clear: () => void;
}

/** A form whose errors are at their fields, and which a double click sends once. `send` gets the values; what it throws is shown, and the values stay. */
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

/** What is wrong with the form as a whole. Stands after its fields, which claim theirs first. */
export function FormError({ form }: { readonly form: Form }) {
  const { rest } = form;
  return (
    <div role="alert" class="form-alert">
      {rest !== null && <p class="form-error">{rest}</p>}
    </div>
  );
}
