import { Field } from "../../components/field.tsx";
import type { Form } from "../../components/form.tsx";

/** Field for a new password. `name`: name of the field in the coordinator's errors. */
export function NewPasswordField({
  form,
  name = "password",
  label = "New password",
}: {
  readonly form: Form;
  readonly name?: string;
  readonly label?: string;
}) {
  return (
    <Field label={label} hint="At least 8 characters" error={form.errorOf(name)}>
      {(props) => <input {...props} name={name} type="password" autocomplete="new-password" minLength={8} required />}
    </Field>
  );
}

export function PasswordField({ form, label = "Password" }: { readonly form: Form; readonly label?: string }) {
  return (
    <Field label={label} error={form.errorOf("password")}>
      {(props) => <input {...props} name="password" type="password" autocomplete="current-password" required />}
    </Field>
  );
}

export function EmailField({ form }: { readonly form: Form }) {
  return (
    <Field label="E-mail" error={form.errorOf("email")}>
      {(props) => <input {...props} name="email" type="email" autocomplete="username" spellcheck={false} required />}
    </Field>
  );
}
