import type { Scope } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { BASE_URL } from "../../../app/base.ts";
import { CopyBox } from "../../../components/copy-button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Field } from "../../../components/field.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { LimitFields, readLimits } from "./key-limits.tsx";

/** Makes a key and shows it this once. */
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
      <Dialog title="Your new key" onClose={onClose}>
        <p>Copy it now. It is not shown again, and the coordinator keeps only its hash.</p>
        <CopyBox text={secret} label="API key" />
        <p class="hint">
          Programs that speak OpenAI’s API use it with the address <code>{new URL("v1", BASE_URL).href}</code>.
        </p>
        <div class="actions">
          <button type="button" class="button primary" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Field label="Name" hint="Where you use it, such as “laptop”" isOptional error={form.errorOf("name")}>
          {(props) => <input {...props} name="name" autocomplete="off" />}
        </Field>
        <Field label="May" error={form.errorOf("scopes")}>
          {(props) => (
            <select {...props} name="access">
              <option value="write">run jobs and read them</option>
              <option value="read">only read</option>
            </select>
          )}
        </Field>
        <LimitFields form={form} />
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Close
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Make the key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
