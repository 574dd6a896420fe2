import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { ActionError, type Action } from "./action.tsx";

/**
 * A modal dialog. The browser keeps the focus inside. On closing, the focus returns to the element that had it, or to
 * the page.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  /** Called on Escape. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => requestAnimationFrame(() => restoreFocus(opener));
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  // A second Escape closes a dialog although the first one was prevented. Reopen the dialog unless `onClose` has
  // removed it.
  const reopen = (): void => {
    onClose();
    requestAnimationFrame(() => {
      if (dialog.current?.open === false) dialog.current.showModal();
    });
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={id} onCancel={cancel} onClose={reopen}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

function restoreFocus(opener: Element | null): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  const target = opener instanceof HTMLElement && opener.isConnected ? opener : document.getElementById("main");
  target?.focus({ preventScroll: true });
}

/** Asks for confirmation of an action that cannot be undone. */
export function ConfirmDialog({
  title,
  children,
  confirm,
  action,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Label of the confirming button: a verb. */
  readonly confirm: string;
  readonly action: Action;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <ActionError action={action} />
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={action.isBusy} onClick={() => action.run()}>
          {confirm}
        </button>
      </div>
    </Dialog>
  );
}
