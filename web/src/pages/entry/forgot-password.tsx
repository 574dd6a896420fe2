import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { Link } from "../../app/router.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EmailField } from "./password-field.tsx";

export function ForgotPasswordPage() {
  const [isSent, setSent] = useState(false);
  const form = useForm(async (values) => {
    await api().auth.forgotPassword(values("email"));
    setSent(true);
  });
  return (
    <EntryCard title="New password">
      {isSent ? (
        <p role="status">
          If there is an account with this address, we have sent it an e-mail with a token.{" "}
          <Link to="/reset-password">Enter the token</Link>. If no e-mail arrives, ask the operator for a token.
        </p>
      ) : (
        <form onSubmit={form.submit} noValidate>
          <EmailField form={form} />
          <FormError form={form} />
          <button class="button primary wide" disabled={form.isBusy}>
            Send a token
          </button>
        </form>
      )}
      <p class="entry-links">
        <Link to="/sign-in">Sign in</Link>
        <Link to="/reset-password">I have a token</Link>
      </p>
    </EntryCard>
  );
}
