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
      <section class="panel" aria-label="Facts">
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
            Unfinished jobs are cancelled; keys, sessions and Islands end at once; prompts, answers, conversations and
            your e-mail address are removed. The ledger keeps its entries under the account’s id. Credits that are left
            go back to the network.
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
      <PasswordField form={form} label="Present password" />
      <NewPasswordField form={form} name="new" />
      <FormError form={form} />
      <p role="status">{isDone && "The password is changed. All other sessions have ended."}</p>
      <div class="actions">
        <button class="button" disabled={form.isBusy}>
          Change the password
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
    <Dialog title="Delete the account for good?" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Field label="Password" hint="To show that it is you" error={form.errorOf("password")}>
          {(props) => <input {...props} name="password" type="password" autocomplete="current-password" required />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button danger" disabled={form.isBusy}>
            Delete for good
          </button>
        </div>
      </form>
    </Dialog>
  );
}
