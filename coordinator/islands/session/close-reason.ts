/** Longest reason of a close frame: 125 bytes less the code. Source: RFC 6455 §5.5. */
const MAX_REASON_BYTES = 123;

/** As much of a text as a close frame has room for, in whole characters. */
export function closeReason(text: string): string {
  return Buffer.from(text)
    .subarray(0, MAX_REASON_BYTES)
    .toString()
    .replace(/\uFFFD$/, "");
}
