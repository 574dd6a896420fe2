import { PermissionDeniedError } from "@atoll/client";
import { useState } from "preact/hooks";
import { Link } from "../../app/router.tsx";
import { register } from "../../app/session.ts";
import { FieldFailure } from "../../components/field-failure.ts";
import { FormError, useForm } from "../../components/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { EmailField, NewPasswordField } from "./password-field.tsx";

export function RegisterPage() {
  const [isMailed, setMailed] = useState(false);
  const form = useForm(async (values) => {
    try {
      const isOpen = await register({ email: values("email"), password: values("password") });
      setMailed(!isOpen);
    } catch (error) {
      if (error instanceof PermissionDeniedError) {
        throw new FieldFailure("", "Registration is closed. Ask the operator of this network for an account.");
      }
      throw error;
    }
  });
  if (isMailed) {
    return (
      <EntryCard title="Check your e-mail">
        <p>
          If there is no account with this address yet, we have sent it an e-mail with a token.{" "}
          <Link to="/verify">Enter the token</Link>.
        </p>
      </EntryCard>
    );
  }
  return (
    <EntryCard title="Open an account">
      <form onSubmit={form.submit} noValidate>
        <EmailField form={form} />
        <NewPasswordField form={form} label="Password" />
        <FormError form={form} />
        <button class="button primary wide" disabled={form.isBusy}>
          {form.isBusy ? "Opening…" : "Open an account"}
        </button>
      </form>
      <p class="entry-links">
        <Link to="/sign-in">Sign in instead</Link>
      </p>
    </EntryCard>
  );
}
