import { useState } from "preact/hooks";

/**
 * Button that copies a text. Browsers permit that only on https and localhost; elsewhere the button asks to select the
 * text by hand.
 */
export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const copy = (): void => {
    const show = (what: string) => () => {
      setOutcome(what);
      setTimeout(() => setOutcome(null), 2_000);
    };
    // `clipboard` is undefined on plain http.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) show("Select and copy the text")();
    else clipboard.writeText(text).then(show("Copied"), show("Select and copy the text"));
  };
  return (
    <button type="button" class="button small" onClick={copy}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  );
}

/** A secret or command with a copy button. */
export function CopyBox({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="copy-box">
      <code tabIndex={0} role="textbox" aria-readonly="true" aria-label={label}>
        {text}
      </code>
      <CopyButton text={text} />
    </div>
  );
}
