import { Link } from "../../app/router.tsx";
import { signIn } from "../../app/session.ts";
import { FormError, useForm } from "../../components/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EmailField, PasswordField } from "./password-field.tsx";

export function SignInPage() {
  const form = useForm((values) => signIn({ email: values("email"), password: values("password") }));
  return (
    <EntryCard title="Sign in">
      <form onSubmit={form.submit} noValidate>
        <EmailField form={form} />
        <PasswordField form={form} />
        <FormError form={form} />
        <button class="button primary wide" disabled={form.isBusy}>
          {form.isBusy ? "Signing in…" : "Sign in"}
        </button>
      </form>
      <p class="entry-links">
        <Link to="/register">Open an account</Link>
        <Link to="/forgot-password">Forgot your password?</Link>
      </p>
    </EntryCard>
  );
}
