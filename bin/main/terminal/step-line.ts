/** Moves to the start of the line and deletes the line. Source: ECMA-48, EL. */
const CLEAR_LINE = "\r\u001B[K";

interface StepLine {
  show(text: string): void;
  clear(): void;
}

/** A progress line that each step replaces. Shows nothing if `stream` is not a terminal. */
export function openStepLine(stream: NodeJS.WritableStream & { readonly isTTY?: boolean }): StepLine {
  const write = (text: string): void => {
    if (stream.isTTY === true) stream.write(text);
  };
  return { show: (text) => write(`${CLEAR_LINE}${text}`), clear: () => write(CLEAR_LINE) };
}
