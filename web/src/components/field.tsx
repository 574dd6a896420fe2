import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** Attributes that tie a control to its label, hint and error. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: "true";
}

/** A control with its label, and its error and hint below. */
export function Field({
  label,
  hint,
  error,
  isOptional,
  children,
}: {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly isOptional?: boolean;
  readonly children: (props: ControlProps) => ComponentChildren;
}) {
  const id = useId();
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const describing = [...(error === undefined ? [] : [errorId]), ...(hint === undefined ? [] : [hintId])].join(" ");
  return (
    <div class={error === undefined ? "field" : "field wrong"}>
      <label for={id}>
        {label}
        {isOptional === true && <span class="muted"> optional</span>}
      </label>
      {children({
        id,
        ...(describing === "" ? {} : { "aria-describedby": describing }),
        ...(error === undefined ? {} : { "aria-invalid": "true" as const }),
      })}
      {error !== undefined && (
        <p id={errorId} class="field-error">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
