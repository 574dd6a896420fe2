import type { ComponentChildren } from "preact";
import { isSecondClick } from "./action.tsx";
import { CopyBox } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

/** Shows a secret once. The second click of the double click that created it does not close the dialog. */
export function SecretDialog({
  title,
  secret,
  label,
  children,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  readonly label: string;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now. It cannot be shown again: the coordinator stores only its hash.</p>
      <CopyBox text={secret} label={label} />
      {children}
      <div class="actions">
        <button type="button" class="button primary" onClick={() => isSecondClick() || onClose()}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
