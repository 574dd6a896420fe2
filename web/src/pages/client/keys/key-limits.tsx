import type { KeyLimits } from "../../../app/account-api.ts";
import { networkNow } from "../../../app/clock.ts";
import { FieldFailure } from "../../../components/field-failure.ts";
import { Field } from "../../../components/field.tsx";
import type { Form, FormValues } from "../../../components/form.tsx";

const DAY_MS = 86_400_000;

export function LimitFields({ form }: { readonly form: Form }) {
  return (
    <>
      <Field label="Expires" error={form.errorOf("expires_at")}>
        {(props) => (
          <select {...props} name="days">
            <option value="">never</option>
            <option value="7">in 7 days</option>
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
          </select>
        )}
      </Field>
      <Field
        label="Credits per month"
        hint="Maximum cost of this key’s jobs"
        isOptional
        error={form.errorOf("credits_per_month")}
      >
        {(props) => <input {...props} name="credits_per_month" inputMode="decimal" autocomplete="off" />}
      </Field>
      <Field label="Only these Cargos" hint="Slugs, separated by commas" isOptional error={form.errorOf("cargos")}>
        {(props) => <input {...props} name="cargos" autocomplete="off" spellcheck={false} />}
      </Field>
      <Field label="Trust" hint="Islands that run jobs which name no trust" error={form.errorOf("trust")}>
        {(props) => (
          <select {...props} name="trust">
            <option value="">any Island</option>
            <option value="proven">Islands of proven owners</option>
            <option value="own">only your own Islands</option>
          </select>
        )}
      </Field>
    </>
  );
}

/** Reads the limits from the form. @throws {FieldFailure} */
export function readLimits(values: FormValues, nowMs: number = networkNow()): KeyLimits {
  const [days, credits] = [values("days"), values("credits_per_month").trim()];
  const trust = (["proven", "own"] as const).find((each) => each === values("trust"));
  const cargos = values("cargos")
    .split(/[\s,]+/)
    .filter((slug) => slug !== "");
  if (credits !== "" && !(Number(credits) >= 0))
    throw new FieldFailure("credits_per_month", "Enter a number of 0 or more");
  return {
    ...(days === "" ? {} : { expires_at: new Date(nowMs + Number(days) * DAY_MS).toISOString() }),
    ...(credits === "" ? {} : { credits_per_month: Number(credits) }),
    ...(cargos.length === 0 ? {} : { cargos }),
    ...(trust === undefined ? {} : { trust }),
  };
}
