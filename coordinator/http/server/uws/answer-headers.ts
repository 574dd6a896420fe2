import type { UwsResponse } from "./load-uws.ts";

type HeaderValue = string | number | readonly string[];
export type HeadersInit = Readonly<Record<string, HeaderValue | undefined>>;

/** Names that the library writes itself, each answer's own way. */
const WRITTEN_BY_LIBRARY = new Set(["content-length", "transfer-encoding", "date", "connection"]);

/** The headers of an answer, by name without regard to case. */
export class AnswerHeaders {
  readonly #values = new Map<string, { readonly name: string; readonly value: string }>();

  set(name: string, value: HeaderValue): void {
    this.#values.set(name.toLowerCase(), { name, value: Array.isArray(value) ? value.join(", ") : String(value) });
  }

  setAll(headers: HeadersInit): void {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.set(name, value);
  }

  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.value;
  }

  remove(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  writeTo(response: UwsResponse): void {
    for (const [key, { name, value }] of this.#values) {
      if (!WRITTEN_BY_LIBRARY.has(key)) response.writeHeader(name, value);
    }
  }
}
