import { Dialog } from "../components/dialog.tsx";
import { Field } from "../components/field.tsx";
import { FormError, useForm } from "../components/form.tsx";
import { account, forgetSession, signIn } from "./session.ts";

/** Dialog over a page whose session has ended. The page's fields keep their values. */
export function SignInAgain() {
  const email = account.value?.email ?? "";
  const form = useForm(async (values) => {
    await signIn({ email, password: values("password") });
  });
  return (
    <Dialog title="Your session has ended" onClose={() => undefined}>
      <p>Sign in again to continue. Everything you typed on this page is kept.</p>
      <form onSubmit={form.submit} noValidate>
        <Field label="E-mail">
          {(props) => <input {...props} type="email" value={email} readOnly autocomplete="username" />}
        </Field>
        <Field label="Password" error={form.errorOf("password")}>
          {(props) => <input {...props} name="password" type="password" autocomplete="current-password" required />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={forgetSession}>
            Sign out
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Sign in
          </button>
        </div>
      </form>
    </Dialog>
  );
}
