import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { Link, query } from "../../app/router.tsx";
import { endedSession } from "../../app/session.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { NewPasswordField } from "./password-field.tsx";

export function ResetPasswordPage() {
  const [isDone, setDone] = useState(false);
  const form = useForm(async (values) => {
    await api().auth.resetPassword({ token: values("token").trim(), new: values("new") });
    // The reset has ended all sessions, including this browser's.
    endedSession();
    setDone(true);
  });
  if (isDone) {
    return (
      <EntryCard title="Password changed">
        <p>
          All sessions have ended. <Link to="/sign-in">Sign in</Link> with the new password.
        </p>
      </EntryCard>
    );
  }
  return (
    <EntryCard title="New password">
      <form onSubmit={form.submit} noValidate>
        <Field label="Token" hint="pr_…, from the e-mail or the operator" error={form.errorOf("token")}>
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
        <NewPasswordField form={form} name="new" />
        <FormError form={form} />
        <button class="button primary wide" disabled={form.isBusy}>
          Change password
        </button>
      </form>
    </EntryCard>
  );
}
