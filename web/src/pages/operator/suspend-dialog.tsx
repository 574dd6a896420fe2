import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";

export function SuspendDialog({
  what,
  isSuspended,
  consequence,
  act,
  onDone,
  onClose,
}: {
  readonly what: string;
  readonly isSuspended: boolean;
  readonly consequence: string;
  readonly act: (reason: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const form = useForm(async (values) => {
    await act(values("reason").trim());
    onDone();
    onClose();
  });
  return (
    <Dialog title={`${isSuspended ? "Reinstate" : "Suspend"} ${what}?`} onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        {!isSuspended && (
          <>
            <p>{consequence}</p>
            <Field label="Reason" hint="Shown to the owner" error={form.errorOf("reason")}>
              {(props) => <input {...props} name="reason" autocomplete="off" required />}
            </Field>
          </>
        )}
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class={isSuspended ? "button primary" : "button danger"} disabled={form.isBusy}>
            {isSuspended ? "Reinstate" : "Suspend"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
