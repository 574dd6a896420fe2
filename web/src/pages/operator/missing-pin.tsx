import type { CargoReview } from "@atoll/client";
import { api } from "../../app/api.ts";
import { ActionError, useAction } from "../../components/action.tsx";
import { FieldFailure } from "../../components/field-failure.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";

/** Label, hint and pattern of a pin, by kind. */
const PINS = {
  image_digest: { label: "Image digest", hint: "sha256: and 64 hex digits", form: /^sha256:[0-9a-f]{64}$/ },
  model_hash: { label: "SHA-256 of the file", hint: "64 hex digits, as sha256sum prints", form: /^[0-9a-f]{64}$/ },
  model_commit: { label: "Commit on the hub", hint: "40 hex digits", form: /^[0-9a-f]{40}$/ },
} as const;

/** Looks up the pin of a Cargo that is not tied to exact bytes yet, or accepts a typed one. */
export function MissingPin({
  review: { slug, pin },
  onPinned,
}: {
  readonly review: CargoReview;
  readonly onPinned: (review: CargoReview) => void;
}) {
  const lookUp = useAction(async () => onPinned(await api().operator.cargos.review(slug)));
  const form = useForm(async (values) => {
    if (pin === null) return;
    const typed = values("pin").trim().toLowerCase();
    const { label, hint, form: pattern } = PINS[pin.kind];
    if (!pattern.test(typed)) throw new FieldFailure("pin", `${label}: enter ${hint}`);
    onPinned(await api().operator.cargos.review(slug, { [pin.kind]: typed }));
  });
  if (pin === null || pin.value !== null) return null;
  const { label, hint } = PINS[pin.kind];
  return (
    <section class="panel" aria-labelledby="pin-title">
      <h2 id="pin-title">Approve with a hash</h2>
      <p>
        This Cargo is not tied to exact files yet, so it cannot be approved. Look up the current hash at its source, or
        enter one that you know from elsewhere.
      </p>
      <div>
        <button type="button" class="button" disabled={lookUp.isBusy} onClick={() => lookUp.run()}>
          {lookUp.isBusy ? "Looking up…" : "Look up"}
        </button>
      </div>
      <ActionError action={lookUp} />
      <form onSubmit={form.submit} noValidate>
        <Field label={label} hint={hint} error={form.errorOf("pin")}>
          {(props) => <input {...props} name="pin" autocomplete="off" spellcheck={false} />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button class="button" disabled={form.isBusy}>
            Use this hash
          </button>
        </div>
      </form>
    </section>
  );
}
