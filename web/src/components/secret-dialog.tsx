import type { ComponentChildren } from "preact";
import { isSecondClick } from "./action.tsx";
import { CopyBox } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";

/** A secret that is shown this once. The second half of the click that made it does not close it. */
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
      <p>Copy it now. It is not shown again: the coordinator keeps only its hash.</p>
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
