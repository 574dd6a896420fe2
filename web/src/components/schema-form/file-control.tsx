import { useState } from "preact/hooks";
import type { ControlProps } from "../field.tsx";
import { formatWhole } from "../numbers.ts";

/** Largest file. The coordinator rejects larger inputs. */
const MAX_FILE_BYTES = 8 * 1_024 * 1_024;

/** File picker. The file becomes part of the input, in base64. */
export function FileControl({
  props,
  value,
  onValue,
}: {
  readonly props: ControlProps;
  readonly value: string;
  readonly onValue: (base64: string) => void;
}) {
  const [message, setMessage] = useState<string | null>(null);
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > MAX_FILE_BYTES) {
      setMessage(`${file.name} is too large. Choose a file of at most 8 MiB`);
      return;
    }
    onValue(toBase64(new Uint8Array(await file.arrayBuffer())));
    setMessage(file.name);
  };
  return (
    <>
      <input {...props} type="file" onChange={(event) => void take(event.currentTarget.files?.[0])} />
      {value !== "" && (
        <p class="hint">
          {message ?? "Example file"}: {formatWhole(Math.floor((value.length * 3) / 4))} bytes
        </p>
      )}
      {value === "" && message !== null && <p class="field-error">{message}</p>}
    </>
  );
}

function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += 8_192) {
    pieces.push(String.fromCharCode(...bytes.subarray(start, start + 8_192)));
  }
  return btoa(pieces.join(""));
}
