import { query } from "../../app/router.tsx";
import { verify } from "../../app/session.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { NewPasswordField } from "./password-field.tsx";

export function VerifyPage() {
  const form = useForm((values) => verify(values("token").trim(), values("password")));
  return (
    <EntryCard title="Open an account">
      <form onSubmit={form.submit} noValidate>
        <Field label="Token from the e-mail" hint="ep_…, valid for an hour" error={form.errorOf("token")}>
          {(props) => (
            <input
              {...props}
              name="token"
              defaultValue={query.value.get("token") ?? ""}
              autocomplete="off"
              spellcheck={false}
              required
            />
          )}
        </Field>
        <NewPasswordField form={form} label="Password" />
        <FormError form={form} />
        <button class="button primary wide" disabled={form.isBusy}>
          Open the account
        </button>
      </form>
    </EntryCard>
  );
}
