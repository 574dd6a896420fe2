import pretty from "pino-pretty";

/** Fields that the line shows in another form, or that are of no use on a terminal. */
const HIDDEN = new Set(["level", "time", "pid", "hostname", "msg", "err", "request_id"]);
/** Maximum length of the text of one field. */
const MAX_VALUE_CHARS = 200;

/** Formats pino's lines as text: time, level, message, fields as name=value, and the stack of an error. */
export function textStream(
  destination: number | NodeJS.WritableStream,
  { colors }: { readonly colors: boolean },
): pretty.PrettyStream {
  return pretty({
    destination,
    sync: true,
    colorize: colors,
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "pid,hostname",
    hideObject: true,
    messageFormat: (line) => messageOf(line),
  });
}

function messageOf(line: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(line)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== null && value !== "")
    .map(([name, value]) => `${name}=${textOf(value)}`);
  const { msg, err } = line;
  const first = [typeof msg === "string" ? withoutControls(msg) : "", ...fields].join(" ");
  return err === undefined ? first : `${first}\n${stackOf(err)}`;
}

/** Returns a plain word unchanged and anything else as JSON. */
function textOf(value: unknown): string {
  const text = typeof value === "string" && /^[\w.,:/@+*?%-]+$/.test(value) ? value : JSON.stringify(value);
  return withoutControls(text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text);
}

function stackOf(error: unknown): string {
  const { stack } = error as { readonly stack?: unknown };
  const lines = typeof stack === "string" ? stack : JSON.stringify(error);
  return lines
    .split("\n")
    .map((line) => `    ${withoutControls(line)}`)
    .join("\n");
}

/** Removes control characters and direction marks from texts of other users, such as names of Cargos. */
function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\uFFFD");
}
