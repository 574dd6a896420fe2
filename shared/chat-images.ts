import { MIB } from "./format-bytes.ts";

/** Limits of the images of one request. An Island receives them in one frame, which has at most 8 MiB. */
export const MAX_IMAGES = 16;
export const MAX_IMAGES_BYTES = 3 * MIB;
/** Maximum of width times height: an engine decodes an image before it makes it smaller. */
const MAX_PIXELS = 50_000_000;
/** Bound of the prompt tokens that an engine counts for an image. Large models cut an image into tiles of 256 tokens. */
export const MAX_IMAGE_TOKENS = 16_384;
const DATA_PREFIX = /^data:image\/[a-z0-9.+-]{1,40};base64,/i;

export type ImageType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";
export const IMAGE_FORMATS = "a PNG, JPEG, WebP or GIF image";

export interface ImagePart {
  readonly type: "image_url";
  readonly image_url: { readonly url: string };
}
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}
/** Part of a message that has an image. Others have their texts as one string. */
export type ContentPart = TextPart | ImagePart;

/** Returns the bytes of a data URL; null if it is none of an image in base64. */
export function imageBytesOf(url: string): Buffer | null {
  const prefix = DATA_PREFIX.exec(url.slice(0, 100))?.[0];
  if (prefix === undefined) return null;
  const text = url.slice(prefix.length);
  const bytes = Buffer.from(text, "base64");
  // Buffer skips characters that are not base64.
  const isWhole = bytes.length > 0 && Math.ceil((bytes.length * 4) / 3) === text.replace(/={1,2}$/, "").length;
  return isWhole ? bytes : null;
}

/** Returns the data URL of an image, with the type that its bytes have. */
export function dataUrlOf(bytes: Buffer): string {
  return `data:${imageTypeOf(bytes) ?? "image/png"};base64,${bytes.toString("base64")}`;
}

/** Returns why the bytes are not an image that a chat may have; null if they are. */
export function imageProblem(bytes: Buffer): string | null {
  const type = imageTypeOf(bytes);
  if (type === null) return `must be ${IMAGE_FORMATS}, and its first bytes are none of these`;
  const size = SIZES[type](bytes);
  if (size === null) return `is not a whole image: its ${type} header is cut off`;
  const [width, height] = size;
  if (width * height <= MAX_PIXELS) return null;
  return `has ${width} x ${height} pixels; at most ${MAX_PIXELS / 1_000_000} megapixels are allowed`;
}

function imageTypeOf(bytes: Buffer): ImageType | null {
  if (bytes.subarray(0, 8).equals(PNG)) return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  const head = bytes.toString("latin1", 0, 16);
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[^]{4}WEBPVP8[ LX]$/.test(head) ? "image/webp" : null;
}
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

type Size = readonly [width: number, height: number];

/** Read width and height in pixels from the header; null if it is cut off. */
const SIZES: Readonly<Record<ImageType, (bytes: Buffer) => Size | null>> = {
  "image/png": (bytes) => (bytes.length < 24 ? null : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]),
  "image/gif": (bytes) => (bytes.length < 10 ? null : [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Source: ITU-T T.81, annex B. Segments follow each other up to the frame header, which has the size. */
function jpegSize(bytes: Buffer): Size | null {
  for (let at = 2; at + 9 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return null;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** Source: RFC 9649, §2.5 to §2.7. */
function webpSize(bytes: Buffer): Size | null {
  if (bytes.length < 30) return null;
  const form = bytes.toString("latin1", 12, 16);
  if (form === "VP8X") return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (form === "VP8 ") return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  const bits = bytes.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}
