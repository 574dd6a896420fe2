import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { ActionError, type Action } from "./action.tsx";

/** A modal dialog. The browser keeps the focus inside; at the end it goes back to where it was, or to the page if that is gone. */
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
    return () => requestAnimationFrame(() => giveFocusBack(opener));
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  // A second Escape closes it though the first was refused; a dialog that must be answered stays.
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

function giveFocusBack(opener: Element | null): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  const target = opener instanceof HTMLElement && opener.isConnected ? opener : document.getElementById("main");
  target?.focus({ preventScroll: true });
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({
  title,
  children,
  confirm,
  action,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Of the button: a verb. */
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
