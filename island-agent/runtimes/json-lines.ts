import { z } from "zod";
import { JobFailure } from "../../shared/errors.ts";
import { GatheredBytes } from "../../shared/async/gathered-bytes.ts";
import { isJsonValue, type JsonValue } from "../../shared/json-value.ts";
import { outputItemSchema, type OutputItem } from "../../shared/output.ts";

/** Last line of a program's output. */
export type FinalLine =
  | { readonly kind: "done"; readonly output?: JsonValue }
  | { readonly kind: "error"; readonly failure: JobFailure };

export interface JsonLineLimits {
  /** Maximum length of a line, without its newline. */
  readonly lineBytes: number;
  /** Maximum length of all lines together. */
  readonly totalBytes: number;
}

/** Default limits. A line must fit into a frame (8 MB), and the output into a stored job (64 MB). */
const DEFAULT_LIMITS: JsonLineLimits = { lineBytes: 8_000_000, totalBytes: 64_000_000 };
/** Maximum length of the message of an `error` line. */
const MAX_MESSAGE_CHARS = 1_000;
const LINE_FEED = 0x0a;
const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/;

const lineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("token"), content: outputItemSchema.options[0].shape.content }),
  outputItemSchema.options[1],
  z.object({
    type: z.literal("image"),
    data: z.string().refine((data) => data.length % 4 === 0 && BASE64_PATTERN.test(data), "must be valid base64"),
    format: z.string().regex(/^[a-z0-9][a-z0-9.+-]{0,19}$/),
  }),
  z.object({ type: z.literal("done"), output: z.unknown().optional() }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);

/**
 * Reads the standard output of a wasm module or a container: JSON lines as documented in
 * docs/reference/programs.md. Failures name the line number and the fault, but never quote the line. Each `token`
 * line counts as one token.
 */
export class JsonLineReader {
  readonly #onItem: (item: OutputItem) => void;
  readonly #limits: JsonLineLimits;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #line = new GatheredBytes();
  #totalBytes = 0;
  #lineNumber = 1;
  #tokens = 0;
  #finalLine: FinalLine | null = null;

  constructor(onItem: (item: OutputItem) => void, limits: Partial<JsonLineLimits> = {}) {
    this.#onItem = onItem;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** First `done` or `error` line; null before it. Later lines are ignored. */
  get finalLine(): FinalLine | null {
    return this.#finalLine;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /**
   * Adds bytes and delivers the items of all complete lines. Copies the bytes of an incomplete line.
   * @throws {JobFailure} `cargo_failed` or `output_too_large`; do not call `push` again after that.
   */
  push(bytes: Uint8Array): void {
    let start = 0;
    while (this.#finalLine === null) {
      const end = bytes.indexOf(LINE_FEED, start);
      const piece = bytes.subarray(start, end === -1 ? undefined : end);
      this.#count(piece.length + (end === -1 ? 0 : 1), piece.length);
      if (end === -1) {
        // The first piece is copied, because it is kept.
        this.#line.add(this.#line.length === 0 ? Buffer.from(piece) : viewOf(piece));
        return;
      }
      this.#line.add(viewOf(piece));
      this.#endLine();
      start = end + 1;
    }
  }

  /** Ends the input; a last line without a newline counts. @throws as `push`. */
  end(): FinalLine | null {
    this.#endLine();
    return this.#finalLine;
  }

  #count(bytes: number, lineBytes: number): void {
    this.#totalBytes += bytes;
    const { lineBytes: maxLineBytes, totalBytes: maxTotalBytes } = this.#limits;
    if (this.#line.length + lineBytes > maxLineBytes) {
      this.#refuseSize(`line ${this.#lineNumber} of its output`, maxLineBytes);
    }
    if (this.#totalBytes > maxTotalBytes) this.#refuseSize("its output", maxTotalBytes);
  }

  #refuseSize(what: string, maxBytes: number): never {
    throw new JobFailure("output_too_large", `The Cargo's program wrote too much: ${what} exceeds ${maxBytes} bytes`);
  }

  #endLine(): void {
    const line = this.#line.bytes;
    this.#line = new GatheredBytes();
    this.#take(this.#decode(line));
    this.#lineNumber += 1;
  }

  #decode(line: Uint8Array): string {
    try {
      return this.#decoder.decode(line).trim();
    } catch (error) {
      throw this.#badLine("is not UTF-8", error);
    }
  }

  #take(text: string): void {
    if (text === "") return;
    const line = this.#parse(text);
    switch (line.type) {
      case "token":
        this.#tokens += 1;
        // A JSON escape can be half of a surrogate pair, which UTF-8 cannot represent.
        return this.#onItem({ type: "token", content: line.content.toWellFormed(), count: 1 });
      case "progress":
      case "image":
        return this.#onItem(line);
      case "done":
        if (line.output === undefined) this.#finalLine = { kind: "done" };
        else if (isJsonValue(line.output)) this.#finalLine = { kind: "done", output: line.output };
        else throw this.#badLine("contains an output that is nested too deeply, or a number that is too large");
        return;
      case "error": {
        const message = line.message.slice(0, MAX_MESSAGE_CHARS).toWellFormed();
        this.#finalLine = {
          kind: "error",
          failure: new JobFailure("cargo_failed", message || "The Cargo's program failed"),
        };
        return;
      }
      default:
        line satisfies never;
    }
  }

  #parse(text: string): z.infer<typeof lineSchema> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // V8's error is not passed on as the cause, because its message quotes the text.
      throw this.#badLine("is not JSON");
    }
    const parsed = lineSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [field] = parsed.error.issues[0]?.path ?? [];
    throw this.#badLine(field === undefined ? "is not an object" : `has an invalid ${describeField(field)}`);
  }

  #badLine(fault: string, cause?: unknown): JobFailure {
    const text = `The Cargo's program broke the output protocol: line ${this.#lineNumber} of its output ${fault}`;
    return new JobFailure("cargo_failed", text, { cause });
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Quotes the name of a field of the schema. Keys that the line contains are never quoted. */
function describeField(field: PropertyKey): string {
  return `"${String(field)}"`;
}
