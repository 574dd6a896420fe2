import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { account, signOut } from "../../../app/session.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { Field } from "../../../components/field.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { Fact, PageHead } from "../../../components/page-head.tsx";
import { formatTime } from "../../../components/time.tsx";
import { Sessions } from "./sessions.tsx";
import { NewPasswordField, PasswordField } from "../../entry/password-field.tsx";

export function AccountPage() {
  const { value } = account;
  const [isDeleting, setDeleting] = useState(false);
  if (value === null) return null;
  return (
    <>
      <PageHead title="Account" />
      <section class="panel" aria-label="Details">
        <dl class="facts wide">
          <Fact label="E-mail">{value.email}</Fact>
          <Fact label="Opened">{formatTime(value.created_at)}</Fact>
          <Fact label="Id">
            <span class="id">{value.id}</span>
          </Fact>
        </dl>
      </section>
      <Sessions />
      <div class="columns">
        <ChangePassword />
        <section class="panel" aria-labelledby="delete-title">
          <h2 id="delete-title">Delete the account</h2>
          <p>
            This cancels unfinished jobs and ends all keys, sessions and Islands at once. Prompts, answers,
            conversations and your e-mail address are deleted. The ledger keeps its entries under the account’s id.
            Remaining credits go back to the network.
          </p>
          <div class="actions">
            <button type="button" class="button danger" onClick={() => setDeleting(true)}>
              Delete the account
            </button>
          </div>
        </section>
      </div>
      {isDeleting && <DeleteAccount onClose={() => setDeleting(false)} />}
    </>
  );
}

function ChangePassword() {
  const [isDone, setDone] = useState(false);
  const form = useForm(async (values) => {
    setDone(false);
    await api().account.changePassword({ current: values("password"), new: values("new") });
    setDone(true);
  });
  return (
    <form class="panel" onSubmit={form.submit} noValidate key={String(isDone)}>
      <h2>Password</h2>
      <PasswordField form={form} label="Current password" />
      <NewPasswordField form={form} name="new" />
      <FormError form={form} />
      <p role="status">{isDone && "Password changed. All other sessions have ended."}</p>
      <div class="actions">
        <button class="button" disabled={form.isBusy}>
          Change password
        </button>
      </div>
    </form>
  );
}

function DeleteAccount({ onClose }: { readonly onClose: () => void }) {
  const form = useForm(async (values) => {
    await api().account.delete(values("password"));
    await signOut();
  });
  return (
    <Dialog title="Delete the account permanently?" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Field label="Password" hint="Confirms that you own the account" error={form.errorOf("password")}>
          {(props) => <input {...props} name="password" type="password" autocomplete="current-password" required />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button danger" disabled={form.isBusy}>
            Delete permanently
          </button>
        </div>
      </form>
    </Dialog>
  );
}
