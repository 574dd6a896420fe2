import type { Scope } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { BASE_URL } from "../../../app/base.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { Field } from "../../../components/field.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { SecretDialog } from "../../../components/secret-dialog.tsx";
import { LimitFields, readLimits } from "./key-limits.tsx";

/** Creates a key and shows it once. */
export function NewKey({ onMade, onClose }: { readonly onMade: () => void; readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const form = useForm(async (values) => {
    const name = values("name").trim();
    const scopes: readonly Scope[] = values("access") === "read" ? ["read"] : ["read", "write"];
    const made = await api().apiKeys.create({ ...(name === "" ? {} : { name }), scopes, ...readLimits(values) });
    setSecret(made.key);
    onMade();
  });
  if (secret !== null) {
    return (
      <SecretDialog title="Your new API key" secret={secret} label="API key" onClose={onClose}>
        <p class="hint">
          OpenAI-compatible programs use it with the base URL <code>{new URL("v1", BASE_URL).href}</code>.
        </p>
      </SecretDialog>
    );
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Field label="Name" hint="Where you use the key, such as “laptop”" isOptional error={form.errorOf("name")}>
          {(props) => <input {...props} name="name" autocomplete="off" />}
        </Field>
        <Field label="Access" error={form.errorOf("scopes")}>
          {(props) => (
            <select {...props} name="access">
              <option value="write">run and read jobs</option>
              <option value="read">read only</option>
            </select>
          )}
        </Field>
        <LimitFields form={form} />
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Create key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
