import type { LlamaModel, Token } from "node-llama-cpp";

/** Returns the bytes of a token from its file; null for a token without bytes or an unknown layout. */
export function bytesOfToken({ fileInfo }: Pick<LlamaModel, "fileInfo">, token: Token): number[] | null {
  const { model, tokens } = fileInfo.metadata.tokenizer.ggml;
  const written = tokens[token];
  if (written === undefined) return null;
  const hex = /^<0x([0-9A-F]{2})>$/.exec(written)?.[1];
  if (hex !== undefined) return [Number.parseInt(hex, 16)];
  if (model !== "gpt2") return null;
  const bytes = Array.from(written, (char) => BYTES.get(char));
  return bytes.every((byte) => byte !== undefined) ? bytes : null;
}

/** Characters for the bytes in vocabularies with GPT-2's layout. Source: `bytes_to_unicode` of its tokenizer. */
const BYTES: ReadonlyMap<string, number> = byteChars();

function byteChars(): Map<string, number> {
  const chars = new Map<string, number>();
  let hidden = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    const isShown = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    chars.set(String.fromCodePoint(isShown ? byte : 256 + hidden), byte);
    if (!isShown) hidden += 1;
  }
  return chars;
}
