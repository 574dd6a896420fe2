import { z } from "zod";

/** A kind of file in a job's JSON. */
interface FileKind {
  /** First part of the media type. */
  readonly media: "image" | "audio";
  /** Name in messages, such as "a PNG, JPEG or WebP file". */
  readonly name: string;
  readonly hasSignature: (head: Buffer) => boolean;
}

const HEAD_BYTES = 12;
const RIFF = Buffer.from("RIFF");

/** Formats that reach the decoder. It supports more (SVG, TIFF, PDF), which would only add attack surface. */
const IMAGE: FileKind = {
  media: "image",
  name: "a PNG, JPEG or WebP file",
  hasSignature: (head) =>
    head.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex")) ||
    head.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex")) ||
    isRiff(head, "WEBP"),
};
const AUDIO: FileKind = {
  media: "audio",
  name: "a WAV file",
  hasSignature: (head) => isRiff(head, "WAVE"),
};

/** Parses an image as base64 or a data URL. Returns plain base64. */
export const imageSchema = encodedFile(IMAGE);
/** Parses audio as base64 or a data URL. Returns plain base64. */
export const audioSchema = encodedFile(AUDIO);

function encodedFile({ media, name, hasSignature }: FileKind) {
  return z.string().transform((value, context) => {
    const base64 = value.startsWith("data:") ? dataOf(value, media) : value;
    const problem = problemOf(base64);
    if (problem === null && base64 !== null) return base64;
    context.addIssue({ code: "custom", message: problem ?? "" });
    return z.NEVER;
  });

  function problemOf(base64: string | null): string | null {
    if (base64 === null) return `must be base64, or a data URL of the form data:${media}/…;base64,…`;
    if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return "must be valid base64";
    return hasSignature(Buffer.from(base64.slice(0, (HEAD_BYTES / 3) * 4), "base64")) ? null : `must be ${name}`;
  }
}

/** Returns the base64 part of a data URL (RFC 2397); null for another media type. */
function dataOf(url: string, media: string): string | null {
  const comma = url.indexOf(",");
  const head = url.slice("data:".length, comma).toLowerCase();
  return comma > 0 && head.startsWith(`${media}/`) && head.endsWith(";base64") ? url.slice(comma + 1) : null;
}

function isRiff(head: Buffer, form: string): boolean {
  return head.subarray(0, 4).equals(RIFF) && head.toString("latin1", 8, HEAD_BYTES) === form;
}
