import type { CargoReview } from "@atoll/client";
import { api } from "../../app/api.ts";
import { ActionError, useAction } from "../../components/action.tsx";
import { FieldFailure } from "../../components/field-failure.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { formatCredits } from "../../components/numbers.ts";

/** Form for the price of a shipped Cargo. Empty for other Cargos, whose definitions set the price. */
export function CargoPrice({
  review: { slug, price_per_job: price, shipped_price_per_job: shipped },
  onChanged,
}: {
  readonly review: CargoReview;
  readonly onChanged: (review: CargoReview) => void;
}) {
  const form = useForm(async (values) => {
    const typed = values("price_per_job").trim();
    if (!/^\d+(\.\d+)?$/.test(typed)) throw new FieldFailure("price_per_job", "Enter a number such as 0.05");
    onChanged(await api().operator.cargos.setPrice(slug, Number(typed)));
  });
  const reset = useAction(async () => onChanged(await api().operator.cargos.setPrice(slug, null)));
  if (shipped === null) return null;
  return (
    <form class="panel" onSubmit={form.submit} noValidate>
      <h2>Price</h2>
      <Field
        label="Credits per job"
        hint={`Shipped price: ${formatCredits(shipped)}. Prices by tokens change by the same factor. Jobs keep the price at which they were submitted.`}
        error={form.errorOf("price_per_job")}
      >
        {(props) => (
          <input
            key={price}
            {...props}
            name="price_per_job"
            inputMode="decimal"
            autocomplete="off"
            defaultValue={String(price)}
          />
        )}
      </Field>
      <FormError form={form} />
      <ActionError action={reset} />
      <div class="actions">
        {price !== shipped && (
          <button type="button" class="button" disabled={reset.isBusy} onClick={() => reset.run()}>
            Reset to the shipped price
          </button>
        )}
        <button class="button" disabled={form.isBusy}>
          Change price
        </button>
      </div>
    </form>
  );
}
