import { useMemo } from "preact/hooks";
import { formatWhole } from "./numbers.ts";

/** Image formats that browsers show and that cannot contain scripts. */
const IMAGE_FORMATS: ReadonlySet<string> = new Set(["png", "jpeg", "jpg", "webp", "gif"]);
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;
const MAX_SHOWN_CHARACTERS = 200_000;
/** First base64 characters of image files, with their formats. */
const IMAGE_PREFIXES: readonly (readonly [string, string])[] = [
  ["iVBORw0KGgo", "png"],
  ["/9j/", "jpeg"],
  ["UklGR", "webp"],
  ["R0lGOD", "gif"],
];

export interface Image {
  readonly format: string;
  readonly data: string;
}

/** Shows the output of a job: text, an image or a JSON value. Output is never rendered as HTML. */
export function Output({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <p class="muted">No output.</p>;
  if (typeof value === "string") return <TextOutput text={value} />;
  const image = parseImage(value);
  if (image !== null) return <ImageOutput image={image} />;
  return (
    <>
      {findImages(value).map((each, index) => (
        <ImageOutput key={index} image={each} />
      ))}
      <JsonText value={value} />
    </>
  );
}

/** Shows text. JSON text is indented. */
export function TextOutput({ text }: { readonly text: string }) {
  const parsed = useMemo(() => parseJson(text), [text]);
  if (parsed !== undefined) return <JsonText value={parsed} />;
  return (
    <>
      <pre class="output" tabIndex={0} role="group" aria-label="Output">
        {text.slice(0, MAX_SHOWN_CHARACTERS)}
      </pre>
      {text.length > MAX_SHOWN_CHARACTERS && (
        <p class="muted">
          Showing the first {formatWhole(MAX_SHOWN_CHARACTERS)} of {formatWhole(text.length)} characters.{" "}
          <button type="button" class="link-button" onClick={() => download(text)}>
            Download the whole text
          </button>
        </p>
      )}
    </>
  );
}

function download(text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href: address, download: "output.txt" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function ImageOutput({ image }: { readonly image: Image }) {
  if (!IMAGE_FORMATS.has(image.format) || !BASE64.test(image.data)) {
    return <p class="muted">This page cannot show images of the format “{image.format}”.</p>;
  }
  const source = `data:image/${image.format};base64,${image.data}`;
  return (
    <figure class="image-output">
      <img src={source} alt="Output of the job" />
      <figcaption>
        <a href={source} download={`output.${image.format}`}>
          Download
        </a>
      </figcaption>
    </figure>
  );
}

export function JsonText({ value, label = "Output" }: { readonly value: unknown; readonly label?: string }) {
  const text = JSON.stringify(value, shorten, 2);
  return (
    <pre class="output json" tabIndex={0} role="group" aria-label={label}>
      {text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}\n… and more` : text}
    </pre>
  );
}

function shorten(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length < 2_000) return value;
  if (value.startsWith("data:image/")) return `[image] (${value.length.toLocaleString("en")} characters)`;
  if (!BASE64.test(value)) return value;
  return `${value.slice(0, 40)}… (${value.length.toLocaleString("en")} characters of base64)`;
}

function parseImage(value: unknown): Image | null {
  if (typeof value !== "object" || value === null) return null;
  const { format, data } = value as Record<string, unknown>;
  return typeof format === "string" && typeof data === "string" && IMAGE_FORMATS.has(format) ? { format, data } : null;
}

/** Returns the members that are images in base64, which vision Cargos output. */
function findImages(value: object): Image[] {
  return Object.values(value).flatMap((member) => {
    if (typeof member !== "string" || member.length < 64) return [];
    const found = IMAGE_PREFIXES.find(([start]) => member.startsWith(start));
    return found === undefined ? [] : [{ format: found[1], data: member }];
  });
}

/** Parses a JSON object or list; undefined for other text. */
function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
